import {
  require_react
} from "./chunk-7W7PJIWV.js";
import {
  MediaAssembler,
  MediaAssemblyError,
  MessageAssembler,
  MultiCursorBuffer,
  StreamingMessageAssembler,
  SubagentDiscoveryHandle,
  SubgraphDiscoveryHandle,
  ToolCallAssembler,
  parseToolOutput,
  shouldIgnoreScopedTaskToolEvent,
  toClientAssembledToolCall,
  toStreamingMessageHandle
} from "./chunk-KGFHB3F6.js";
import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
  coerceMessageLikeToMessage,
  v7
} from "./chunk-AUYU756B.js";
import {
  __commonJS,
  __privateAdd,
  __privateGet,
  __privateMethod,
  __privateSet,
  __privateWrapper,
  __publicField,
  __toESM
} from "./chunk-WOOG5QLI.js";

// node_modules/react/cjs/react-jsx-runtime.development.js
var require_react_jsx_runtime_development = __commonJS({
  "node_modules/react/cjs/react-jsx-runtime.development.js"(exports) {
    "use strict";
    (function() {
      function getComponentNameFromType(type) {
        if (null == type) return null;
        if ("function" === typeof type)
          return type.$$typeof === REACT_CLIENT_REFERENCE ? null : type.displayName || type.name || null;
        if ("string" === typeof type) return type;
        switch (type) {
          case REACT_FRAGMENT_TYPE:
            return "Fragment";
          case REACT_PROFILER_TYPE:
            return "Profiler";
          case REACT_STRICT_MODE_TYPE:
            return "StrictMode";
          case REACT_SUSPENSE_TYPE:
            return "Suspense";
          case REACT_SUSPENSE_LIST_TYPE:
            return "SuspenseList";
          case REACT_ACTIVITY_TYPE:
            return "Activity";
        }
        if ("object" === typeof type)
          switch ("number" === typeof type.tag && console.error(
            "Received an unexpected object in getComponentNameFromType(). This is likely a bug in React. Please file an issue."
          ), type.$$typeof) {
            case REACT_PORTAL_TYPE:
              return "Portal";
            case REACT_CONTEXT_TYPE:
              return type.displayName || "Context";
            case REACT_CONSUMER_TYPE:
              return (type._context.displayName || "Context") + ".Consumer";
            case REACT_FORWARD_REF_TYPE:
              var innerType = type.render;
              type = type.displayName;
              type || (type = innerType.displayName || innerType.name || "", type = "" !== type ? "ForwardRef(" + type + ")" : "ForwardRef");
              return type;
            case REACT_MEMO_TYPE:
              return innerType = type.displayName || null, null !== innerType ? innerType : getComponentNameFromType(type.type) || "Memo";
            case REACT_LAZY_TYPE:
              innerType = type._payload;
              type = type._init;
              try {
                return getComponentNameFromType(type(innerType));
              } catch (x) {
              }
          }
        return null;
      }
      function testStringCoercion(value) {
        return "" + value;
      }
      function checkKeyStringCoercion(value) {
        try {
          testStringCoercion(value);
          var JSCompiler_inline_result = false;
        } catch (e) {
          JSCompiler_inline_result = true;
        }
        if (JSCompiler_inline_result) {
          JSCompiler_inline_result = console;
          var JSCompiler_temp_const = JSCompiler_inline_result.error;
          var JSCompiler_inline_result$jscomp$0 = "function" === typeof Symbol && Symbol.toStringTag && value[Symbol.toStringTag] || value.constructor.name || "Object";
          JSCompiler_temp_const.call(
            JSCompiler_inline_result,
            "The provided key is an unsupported type %s. This value must be coerced to a string before using it here.",
            JSCompiler_inline_result$jscomp$0
          );
          return testStringCoercion(value);
        }
      }
      function getTaskName(type) {
        if (type === REACT_FRAGMENT_TYPE) return "<>";
        if ("object" === typeof type && null !== type && type.$$typeof === REACT_LAZY_TYPE)
          return "<...>";
        try {
          var name = getComponentNameFromType(type);
          return name ? "<" + name + ">" : "<...>";
        } catch (x) {
          return "<...>";
        }
      }
      function getOwner() {
        var dispatcher = ReactSharedInternals.A;
        return null === dispatcher ? null : dispatcher.getOwner();
      }
      function UnknownOwner() {
        return Error("react-stack-top-frame");
      }
      function hasValidKey(config) {
        if (hasOwnProperty.call(config, "key")) {
          var getter = Object.getOwnPropertyDescriptor(config, "key").get;
          if (getter && getter.isReactWarning) return false;
        }
        return void 0 !== config.key;
      }
      function defineKeyPropWarningGetter(props, displayName) {
        function warnAboutAccessingKey() {
          specialPropKeyWarningShown || (specialPropKeyWarningShown = true, console.error(
            "%s: `key` is not a prop. Trying to access it will result in `undefined` being returned. If you need to access the same value within the child component, you should pass it as a different prop. (https://react.dev/link/special-props)",
            displayName
          ));
        }
        warnAboutAccessingKey.isReactWarning = true;
        Object.defineProperty(props, "key", {
          get: warnAboutAccessingKey,
          configurable: true
        });
      }
      function elementRefGetterWithDeprecationWarning() {
        var componentName = getComponentNameFromType(this.type);
        didWarnAboutElementRef[componentName] || (didWarnAboutElementRef[componentName] = true, console.error(
          "Accessing element.ref was removed in React 19. ref is now a regular prop. It will be removed from the JSX Element type in a future release."
        ));
        componentName = this.props.ref;
        return void 0 !== componentName ? componentName : null;
      }
      function ReactElement(type, key, props, owner, debugStack, debugTask) {
        var refProp = props.ref;
        type = {
          $$typeof: REACT_ELEMENT_TYPE,
          type,
          key,
          props,
          _owner: owner
        };
        null !== (void 0 !== refProp ? refProp : null) ? Object.defineProperty(type, "ref", {
          enumerable: false,
          get: elementRefGetterWithDeprecationWarning
        }) : Object.defineProperty(type, "ref", { enumerable: false, value: null });
        type._store = {};
        Object.defineProperty(type._store, "validated", {
          configurable: false,
          enumerable: false,
          writable: true,
          value: 0
        });
        Object.defineProperty(type, "_debugInfo", {
          configurable: false,
          enumerable: false,
          writable: true,
          value: null
        });
        Object.defineProperty(type, "_debugStack", {
          configurable: false,
          enumerable: false,
          writable: true,
          value: debugStack
        });
        Object.defineProperty(type, "_debugTask", {
          configurable: false,
          enumerable: false,
          writable: true,
          value: debugTask
        });
        Object.freeze && (Object.freeze(type.props), Object.freeze(type));
        return type;
      }
      function jsxDEVImpl(type, config, maybeKey, isStaticChildren, debugStack, debugTask) {
        var children = config.children;
        if (void 0 !== children)
          if (isStaticChildren)
            if (isArrayImpl(children)) {
              for (isStaticChildren = 0; isStaticChildren < children.length; isStaticChildren++)
                validateChildKeys(children[isStaticChildren]);
              Object.freeze && Object.freeze(children);
            } else
              console.error(
                "React.jsx: Static children should always be an array. You are likely explicitly calling React.jsxs or React.jsxDEV. Use the Babel transform instead."
              );
          else validateChildKeys(children);
        if (hasOwnProperty.call(config, "key")) {
          children = getComponentNameFromType(type);
          var keys = Object.keys(config).filter(function(k) {
            return "key" !== k;
          });
          isStaticChildren = 0 < keys.length ? "{key: someKey, " + keys.join(": ..., ") + ": ...}" : "{key: someKey}";
          didWarnAboutKeySpread[children + isStaticChildren] || (keys = 0 < keys.length ? "{" + keys.join(": ..., ") + ": ...}" : "{}", console.error(
            'A props object containing a "key" prop is being spread into JSX:\n  let props = %s;\n  <%s {...props} />\nReact keys must be passed directly to JSX without using spread:\n  let props = %s;\n  <%s key={someKey} {...props} />',
            isStaticChildren,
            children,
            keys,
            children
          ), didWarnAboutKeySpread[children + isStaticChildren] = true);
        }
        children = null;
        void 0 !== maybeKey && (checkKeyStringCoercion(maybeKey), children = "" + maybeKey);
        hasValidKey(config) && (checkKeyStringCoercion(config.key), children = "" + config.key);
        if ("key" in config) {
          maybeKey = {};
          for (var propName in config)
            "key" !== propName && (maybeKey[propName] = config[propName]);
        } else maybeKey = config;
        children && defineKeyPropWarningGetter(
          maybeKey,
          "function" === typeof type ? type.displayName || type.name || "Unknown" : type
        );
        return ReactElement(
          type,
          children,
          maybeKey,
          getOwner(),
          debugStack,
          debugTask
        );
      }
      function validateChildKeys(node) {
        isValidElement(node) ? node._store && (node._store.validated = 1) : "object" === typeof node && null !== node && node.$$typeof === REACT_LAZY_TYPE && ("fulfilled" === node._payload.status ? isValidElement(node._payload.value) && node._payload.value._store && (node._payload.value._store.validated = 1) : node._store && (node._store.validated = 1));
      }
      function isValidElement(object) {
        return "object" === typeof object && null !== object && object.$$typeof === REACT_ELEMENT_TYPE;
      }
      var React = require_react(), REACT_ELEMENT_TYPE = Symbol.for("react.transitional.element"), REACT_PORTAL_TYPE = Symbol.for("react.portal"), REACT_FRAGMENT_TYPE = Symbol.for("react.fragment"), REACT_STRICT_MODE_TYPE = Symbol.for("react.strict_mode"), REACT_PROFILER_TYPE = Symbol.for("react.profiler"), REACT_CONSUMER_TYPE = Symbol.for("react.consumer"), REACT_CONTEXT_TYPE = Symbol.for("react.context"), REACT_FORWARD_REF_TYPE = Symbol.for("react.forward_ref"), REACT_SUSPENSE_TYPE = Symbol.for("react.suspense"), REACT_SUSPENSE_LIST_TYPE = Symbol.for("react.suspense_list"), REACT_MEMO_TYPE = Symbol.for("react.memo"), REACT_LAZY_TYPE = Symbol.for("react.lazy"), REACT_ACTIVITY_TYPE = Symbol.for("react.activity"), REACT_CLIENT_REFERENCE = Symbol.for("react.client.reference"), ReactSharedInternals = React.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE, hasOwnProperty = Object.prototype.hasOwnProperty, isArrayImpl = Array.isArray, createTask = console.createTask ? console.createTask : function() {
        return null;
      };
      React = {
        react_stack_bottom_frame: function(callStackForError) {
          return callStackForError();
        }
      };
      var specialPropKeyWarningShown;
      var didWarnAboutElementRef = {};
      var unknownOwnerDebugStack = React.react_stack_bottom_frame.bind(
        React,
        UnknownOwner
      )();
      var unknownOwnerDebugTask = createTask(getTaskName(UnknownOwner));
      var didWarnAboutKeySpread = {};
      exports.Fragment = REACT_FRAGMENT_TYPE;
      exports.jsx = function(type, config, maybeKey) {
        var trackActualOwner = 1e4 > ReactSharedInternals.recentlyCreatedOwnerStacks++;
        return jsxDEVImpl(
          type,
          config,
          maybeKey,
          false,
          trackActualOwner ? Error("react-stack-top-frame") : unknownOwnerDebugStack,
          trackActualOwner ? createTask(getTaskName(type)) : unknownOwnerDebugTask
        );
      };
      exports.jsxs = function(type, config, maybeKey) {
        var trackActualOwner = 1e4 > ReactSharedInternals.recentlyCreatedOwnerStacks++;
        return jsxDEVImpl(
          type,
          config,
          maybeKey,
          true,
          trackActualOwner ? Error("react-stack-top-frame") : unknownOwnerDebugStack,
          trackActualOwner ? createTask(getTaskName(type)) : unknownOwnerDebugTask
        );
      };
    })();
  }
});

// node_modules/react/jsx-runtime.js
var require_jsx_runtime = __commonJS({
  "node_modules/react/jsx-runtime.js"(exports, module) {
    "use strict";
    if (false) {
      module.exports = null;
    } else {
      module.exports = require_react_jsx_runtime_development();
    }
  }
});

// node_modules/@langchain/react/dist/use-stream.js
var import_react = __toESM(require_react(), 1);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/singletons/fetch.js
var DEFAULT_FETCH_IMPLEMENTATION = (...args) => fetch(...args);
var LANGSMITH_FETCH_IMPLEMENTATION_KEY = Symbol.for("lg:fetch_implementation");
var _getFetchImplementation = () => {
  return globalThis[LANGSMITH_FETCH_IMPLEMENTATION_KEY] ?? DEFAULT_FETCH_IMPLEMENTATION;
};

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/node_modules/.pnpm/is-network-error@1.3.1/node_modules/is-network-error/index.js
var objectToString = Object.prototype.toString;
var isError = (value) => objectToString.call(value) === "[object Error]";
var errorMessages = /* @__PURE__ */ new Set([
  "network error",
  "NetworkError when attempting to fetch resource.",
  "The Internet connection appears to be offline.",
  "Network request failed",
  "fetch failed",
  "terminated",
  " A network error occurred.",
  "Network connection lost"
]);
function isNetworkError(error) {
  if (!(error && isError(error) && error.name === "TypeError" && typeof error.message === "string")) return false;
  const { message, stack } = error;
  if (message === "Load failed") return stack === void 0 || "__sentry_captured__" in error;
  if (message.startsWith("error sending request for url")) return true;
  if (message === "Failed to fetch" || message.startsWith("Failed to fetch (") && message.endsWith(")")) return true;
  return errorMessages.has(message);
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/node_modules/.pnpm/p-retry@7.1.1/node_modules/p-retry/index.js
function validateRetries(retries) {
  if (typeof retries === "number") {
    if (retries < 0) throw new TypeError("Expected `retries` to be a non-negative number.");
    if (Number.isNaN(retries)) throw new TypeError("Expected `retries` to be a valid number or Infinity, got NaN.");
  } else if (retries !== void 0) throw new TypeError("Expected `retries` to be a number or Infinity.");
}
function validateNumberOption(name, value, { min = 0, allowInfinity = false } = {}) {
  if (value === void 0) return;
  if (typeof value !== "number" || Number.isNaN(value)) throw new TypeError(`Expected \`${name}\` to be a number${allowInfinity ? " or Infinity" : ""}.`);
  if (!allowInfinity && !Number.isFinite(value)) throw new TypeError(`Expected \`${name}\` to be a finite number.`);
  if (value < min) throw new TypeError(`Expected \`${name}\` to be ≥ ${min}.`);
}
var AbortError = class extends Error {
  constructor(message) {
    super();
    if (message instanceof Error) {
      this.originalError = message;
      ({ message } = message);
    } else {
      this.originalError = new Error(message);
      this.originalError.stack = this.stack;
    }
    this.name = "AbortError";
    this.message = message;
  }
};
function calculateDelay(retriesConsumed, options) {
  const attempt = Math.max(1, retriesConsumed + 1);
  const random = options.randomize ? Math.random() + 1 : 1;
  let timeout = Math.round(random * options.minTimeout * options.factor ** (attempt - 1));
  timeout = Math.min(timeout, options.maxTimeout);
  return timeout;
}
function calculateRemainingTime(start, max) {
  if (!Number.isFinite(max)) return max;
  return max - (performance.now() - start);
}
async function onAttemptFailure({ error, attemptNumber, retriesConsumed, startTime, options }) {
  var _a17, _b, _c, _d;
  const normalizedError = error instanceof Error ? error : new TypeError(`Non-error was thrown: "${error}". You should only throw errors.`);
  if (normalizedError instanceof AbortError) throw normalizedError.originalError;
  const retriesLeft = Number.isFinite(options.retries) ? Math.max(0, options.retries - retriesConsumed) : options.retries;
  const maxRetryTime = options.maxRetryTime ?? Number.POSITIVE_INFINITY;
  const context = Object.freeze({
    error: normalizedError,
    attemptNumber,
    retriesLeft,
    retriesConsumed
  });
  await options.onFailedAttempt(context);
  if (calculateRemainingTime(startTime, maxRetryTime) <= 0) throw normalizedError;
  const consumeRetry = await options.shouldConsumeRetry(context);
  const remainingTime = calculateRemainingTime(startTime, maxRetryTime);
  if (remainingTime <= 0 || retriesLeft <= 0) throw normalizedError;
  if (normalizedError instanceof TypeError && !isNetworkError(normalizedError)) {
    if (consumeRetry) throw normalizedError;
    (_a17 = options.signal) == null ? void 0 : _a17.throwIfAborted();
    return false;
  }
  if (!await options.shouldRetry(context)) throw normalizedError;
  if (!consumeRetry) {
    (_b = options.signal) == null ? void 0 : _b.throwIfAborted();
    return false;
  }
  const delayTime = calculateDelay(retriesConsumed, options);
  const finalDelay = Math.min(delayTime, remainingTime);
  (_c = options.signal) == null ? void 0 : _c.throwIfAborted();
  if (finalDelay > 0) await new Promise((resolve, reject) => {
    var _a18, _b2;
    const onAbort = () => {
      var _a19;
      clearTimeout(timeoutToken);
      (_a19 = options.signal) == null ? void 0 : _a19.removeEventListener("abort", onAbort);
      reject(options.signal.reason);
    };
    const timeoutToken = setTimeout(() => {
      var _a19;
      (_a19 = options.signal) == null ? void 0 : _a19.removeEventListener("abort", onAbort);
      resolve();
    }, finalDelay);
    if (options.unref) (_a18 = timeoutToken.unref) == null ? void 0 : _a18.call(timeoutToken);
    (_b2 = options.signal) == null ? void 0 : _b2.addEventListener("abort", onAbort, { once: true });
  });
  (_d = options.signal) == null ? void 0 : _d.throwIfAborted();
  return true;
}
async function pRetry(input, options = {}) {
  var _a17, _b, _c;
  options = { ...options };
  validateRetries(options.retries);
  if (Object.hasOwn(options, "forever")) throw new Error("The `forever` option is no longer supported. For many use-cases, you can set `retries: Infinity` instead.");
  options.retries ?? (options.retries = 10);
  options.factor ?? (options.factor = 2);
  options.minTimeout ?? (options.minTimeout = 1e3);
  options.maxTimeout ?? (options.maxTimeout = Number.POSITIVE_INFINITY);
  options.maxRetryTime ?? (options.maxRetryTime = Number.POSITIVE_INFINITY);
  options.randomize ?? (options.randomize = false);
  options.onFailedAttempt ?? (options.onFailedAttempt = () => {
  });
  options.shouldRetry ?? (options.shouldRetry = () => true);
  options.shouldConsumeRetry ?? (options.shouldConsumeRetry = () => true);
  validateNumberOption("factor", options.factor, {
    min: 0,
    allowInfinity: false
  });
  validateNumberOption("minTimeout", options.minTimeout, {
    min: 0,
    allowInfinity: false
  });
  validateNumberOption("maxTimeout", options.maxTimeout, {
    min: 0,
    allowInfinity: true
  });
  validateNumberOption("maxRetryTime", options.maxRetryTime, {
    min: 0,
    allowInfinity: true
  });
  if (!(options.factor > 0)) options.factor = 1;
  (_a17 = options.signal) == null ? void 0 : _a17.throwIfAborted();
  let attemptNumber = 0;
  let retriesConsumed = 0;
  const startTime = performance.now();
  while (Number.isFinite(options.retries) ? retriesConsumed <= options.retries : true) {
    attemptNumber++;
    try {
      (_b = options.signal) == null ? void 0 : _b.throwIfAborted();
      const result = await input(attemptNumber);
      (_c = options.signal) == null ? void 0 : _c.throwIfAborted();
      return result;
    } catch (error) {
      if (await onAttemptFailure({
        error,
        attemptNumber,
        retriesConsumed,
        startTime,
        options
      })) retriesConsumed++;
    }
  }
  throw new Error("Retry attempts exhausted without throwing an error.");
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/_virtual/_rolldown/runtime.js
var __create = Object.create;
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __getProtoOf = Object.getPrototypeOf;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __commonJSMin = (cb, mod) => () => (mod || cb((mod = { exports: {} }).exports, mod), mod.exports);
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") for (var keys = __getOwnPropNames(from), i = 0, n = keys.length, key; i < n; i++) {
    key = keys[i];
    if (!__hasOwnProp.call(to, key) && key !== except) __defProp(to, key, {
      get: ((k) => from[k]).bind(null, key),
      enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable
    });
  }
  return to;
};
var __toESM2 = (mod, isNodeMode, target) => (target = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(isNodeMode || !mod || !mod.__esModule ? __defProp(target, "default", {
  value: mod,
  enumerable: true
}) : target, mod));

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/node_modules/.pnpm/eventemitter3@5.0.4/node_modules/eventemitter3/index.js
var require_eventemitter3 = __commonJSMin((exports, module) => {
  var has = Object.prototype.hasOwnProperty, prefix = "~";
  function Events() {
  }
  if (Object.create) {
    Events.prototype = /* @__PURE__ */ Object.create(null);
    if (!new Events().__proto__) prefix = false;
  }
  function EE(fn, context, once) {
    this.fn = fn;
    this.context = context;
    this.once = once || false;
  }
  function addListener(emitter, event, fn, context, once) {
    if (typeof fn !== "function") throw new TypeError("The listener must be a function");
    var listener = new EE(fn, context || emitter, once), evt = prefix ? prefix + event : event;
    if (!emitter._events[evt]) emitter._events[evt] = listener, emitter._eventsCount++;
    else if (!emitter._events[evt].fn) emitter._events[evt].push(listener);
    else emitter._events[evt] = [emitter._events[evt], listener];
    return emitter;
  }
  function clearEvent(emitter, evt) {
    if (--emitter._eventsCount === 0) emitter._events = new Events();
    else delete emitter._events[evt];
  }
  function EventEmitter() {
    this._events = new Events();
    this._eventsCount = 0;
  }
  EventEmitter.prototype.eventNames = function eventNames() {
    var names = [], events, name;
    if (this._eventsCount === 0) return names;
    for (name in events = this._events) if (has.call(events, name)) names.push(prefix ? name.slice(1) : name);
    if (Object.getOwnPropertySymbols) return names.concat(Object.getOwnPropertySymbols(events));
    return names;
  };
  EventEmitter.prototype.listeners = function listeners(event) {
    var evt = prefix ? prefix + event : event, handlers = this._events[evt];
    if (!handlers) return [];
    if (handlers.fn) return [handlers.fn];
    for (var i = 0, l = handlers.length, ee = new Array(l); i < l; i++) ee[i] = handlers[i].fn;
    return ee;
  };
  EventEmitter.prototype.listenerCount = function listenerCount(event) {
    var evt = prefix ? prefix + event : event, listeners = this._events[evt];
    if (!listeners) return 0;
    if (listeners.fn) return 1;
    return listeners.length;
  };
  EventEmitter.prototype.emit = function emit(event, a1, a2, a3, a4, a5) {
    var evt = prefix ? prefix + event : event;
    if (!this._events[evt]) return false;
    var listeners = this._events[evt], len = arguments.length, args, i;
    if (listeners.fn) {
      if (listeners.once) this.removeListener(event, listeners.fn, void 0, true);
      switch (len) {
        case 1:
          return listeners.fn.call(listeners.context), true;
        case 2:
          return listeners.fn.call(listeners.context, a1), true;
        case 3:
          return listeners.fn.call(listeners.context, a1, a2), true;
        case 4:
          return listeners.fn.call(listeners.context, a1, a2, a3), true;
        case 5:
          return listeners.fn.call(listeners.context, a1, a2, a3, a4), true;
        case 6:
          return listeners.fn.call(listeners.context, a1, a2, a3, a4, a5), true;
      }
      for (i = 1, args = new Array(len - 1); i < len; i++) args[i - 1] = arguments[i];
      listeners.fn.apply(listeners.context, args);
    } else {
      var length = listeners.length, j;
      for (i = 0; i < length; i++) {
        if (listeners[i].once) this.removeListener(event, listeners[i].fn, void 0, true);
        switch (len) {
          case 1:
            listeners[i].fn.call(listeners[i].context);
            break;
          case 2:
            listeners[i].fn.call(listeners[i].context, a1);
            break;
          case 3:
            listeners[i].fn.call(listeners[i].context, a1, a2);
            break;
          case 4:
            listeners[i].fn.call(listeners[i].context, a1, a2, a3);
            break;
          default:
            if (!args) for (j = 1, args = new Array(len - 1); j < len; j++) args[j - 1] = arguments[j];
            listeners[i].fn.apply(listeners[i].context, args);
        }
      }
    }
    return true;
  };
  EventEmitter.prototype.on = function on(event, fn, context) {
    return addListener(this, event, fn, context, false);
  };
  EventEmitter.prototype.once = function once(event, fn, context) {
    return addListener(this, event, fn, context, true);
  };
  EventEmitter.prototype.removeListener = function removeListener(event, fn, context, once) {
    var evt = prefix ? prefix + event : event;
    if (!this._events[evt]) return this;
    if (!fn) {
      clearEvent(this, evt);
      return this;
    }
    var listeners = this._events[evt];
    if (listeners.fn) {
      if (listeners.fn === fn && (!once || listeners.once) && (!context || listeners.context === context)) clearEvent(this, evt);
    } else {
      for (var i = 0, events = [], length = listeners.length; i < length; i++) if (listeners[i].fn !== fn || once && !listeners[i].once || context && listeners[i].context !== context) events.push(listeners[i]);
      if (events.length) this._events[evt] = events.length === 1 ? events[0] : events;
      else clearEvent(this, evt);
    }
    return this;
  };
  EventEmitter.prototype.removeAllListeners = function removeAllListeners(event) {
    var evt;
    if (event) {
      evt = prefix ? prefix + event : event;
      if (this._events[evt]) clearEvent(this, evt);
    } else {
      this._events = new Events();
      this._eventsCount = 0;
    }
    return this;
  };
  EventEmitter.prototype.off = EventEmitter.prototype.removeListener;
  EventEmitter.prototype.addListener = EventEmitter.prototype.on;
  EventEmitter.prefixed = prefix;
  EventEmitter.EventEmitter = EventEmitter;
  if ("undefined" !== typeof module) module.exports = EventEmitter;
});
var eventemitter3_default = require_eventemitter3();

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/node_modules/.pnpm/eventemitter3@5.0.4/node_modules/eventemitter3/index2.js
var import_eventemitter3 = __toESM2(require_eventemitter3(), 1);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/node_modules/.pnpm/p-timeout@7.0.1/node_modules/p-timeout/index.js
var TimeoutError = class TimeoutError2 extends Error {
  constructor(message, options) {
    var _a17;
    super(message, options);
    __publicField(this, "name", "TimeoutError");
    (_a17 = Error.captureStackTrace) == null ? void 0 : _a17.call(Error, this, TimeoutError2);
  }
};
var getAbortedReason = (signal) => signal.reason ?? new DOMException("This operation was aborted.", "AbortError");
function pTimeout(promise, options) {
  const { milliseconds, fallback, message, customTimers = {
    setTimeout,
    clearTimeout
  }, signal } = options;
  let timer;
  let abortHandler;
  const cancelablePromise = new Promise((resolve, reject) => {
    if (typeof milliseconds !== "number" || Math.sign(milliseconds) !== 1) throw new TypeError(`Expected \`milliseconds\` to be a positive number, got \`${milliseconds}\``);
    if (signal == null ? void 0 : signal.aborted) {
      reject(getAbortedReason(signal));
      return;
    }
    if (signal) {
      abortHandler = () => {
        reject(getAbortedReason(signal));
      };
      signal.addEventListener("abort", abortHandler, { once: true });
    }
    promise.then(resolve, reject);
    if (milliseconds === Number.POSITIVE_INFINITY) return;
    const timeoutError = new TimeoutError();
    timer = customTimers.setTimeout.call(void 0, () => {
      if (fallback) {
        try {
          resolve(fallback());
        } catch (error) {
          reject(error);
        }
        return;
      }
      if (typeof promise.cancel === "function") promise.cancel();
      if (message === false) resolve();
      else if (message instanceof Error) reject(message);
      else {
        timeoutError.message = message ?? `Promise timed out after ${milliseconds} milliseconds`;
        reject(timeoutError);
      }
    }, milliseconds);
  }).finally(() => {
    cancelablePromise.clear();
    if (abortHandler && signal) signal.removeEventListener("abort", abortHandler);
  });
  cancelablePromise.clear = () => {
    customTimers.clearTimeout.call(void 0, timer);
    timer = void 0;
  };
  return cancelablePromise;
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/node_modules/.pnpm/p-queue@9.1.0/node_modules/p-queue/dist/lower-bound.js
function lowerBound(array, value, comparator) {
  let first = 0;
  let count = array.length;
  while (count > 0) {
    const step = Math.trunc(count / 2);
    let it = first + step;
    if (comparator(array[it], value) <= 0) {
      first = ++it;
      count -= step + 1;
    } else count = step;
  }
  return first;
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/node_modules/.pnpm/p-queue@9.1.0/node_modules/p-queue/dist/priority-queue.js
var _queue, _a;
var PriorityQueue = (_a = class {
  constructor() {
    __privateAdd(this, _queue, []);
  }
  enqueue(run, options) {
    const { priority = 0, id } = options ?? {};
    const element = {
      priority,
      id,
      run
    };
    if (this.size === 0 || __privateGet(this, _queue)[this.size - 1].priority >= priority) {
      __privateGet(this, _queue).push(element);
      return;
    }
    const index = lowerBound(__privateGet(this, _queue), element, (a, b) => b.priority - a.priority);
    __privateGet(this, _queue).splice(index, 0, element);
  }
  setPriority(id, priority) {
    const index = __privateGet(this, _queue).findIndex((element) => element.id === id);
    if (index === -1) throw new ReferenceError(`No promise function with the id "${id}" exists in the queue.`);
    const [item] = __privateGet(this, _queue).splice(index, 1);
    this.enqueue(item.run, {
      priority,
      id
    });
  }
  dequeue() {
    var _a17;
    return (_a17 = __privateGet(this, _queue).shift()) == null ? void 0 : _a17.run;
  }
  filter(options) {
    return __privateGet(this, _queue).filter((element) => element.priority === options.priority).map((element) => element.run);
  }
  get size() {
    return __privateGet(this, _queue).length;
  }
}, _queue = new WeakMap(), _a);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/node_modules/.pnpm/p-queue@9.1.0/node_modules/p-queue/dist/index.js
var _carryoverIntervalCount, _isIntervalIgnored, _intervalCount, _intervalCap, _rateLimitedInInterval, _rateLimitFlushScheduled, _interval, _intervalEnd, _lastExecutionTime, _intervalId, _timeoutId, _strict, _strictTicks, _strictTicksStartIndex, _queue2, _queueClass, _pending, _concurrency, _isPaused, _idAssigner, _runningTasks, _PQueue_instances, cleanupStrictTicks_fn, consumeIntervalSlot_fn, rollbackIntervalSlot_fn, getActiveTicksCount_fn, doesIntervalAllowAnother_get, doesConcurrentAllowAnother_get, next_fn, onResumeInterval_fn, isIntervalPausedAt_fn, createIntervalTimeout_fn, clearIntervalTimer_fn, clearTimeoutTimer_fn, tryToStartAnother_fn, initializeIntervalIfNeeded_fn, onInterval_fn, processQueue_fn, onEvent_fn, setupRateLimitTracking_fn, scheduleRateLimitUpdate_fn, rollbackIntervalConsumption_fn, updateRateLimitState_fn, _a2;
var PQueue = (_a2 = class extends import_eventemitter3.default {
  constructor(options) {
    var _a17, _b;
    super();
    __privateAdd(this, _PQueue_instances);
    __privateAdd(this, _carryoverIntervalCount);
    __privateAdd(this, _isIntervalIgnored);
    __privateAdd(this, _intervalCount, 0);
    __privateAdd(this, _intervalCap);
    __privateAdd(this, _rateLimitedInInterval, false);
    __privateAdd(this, _rateLimitFlushScheduled, false);
    __privateAdd(this, _interval);
    __privateAdd(this, _intervalEnd, 0);
    __privateAdd(this, _lastExecutionTime, 0);
    __privateAdd(this, _intervalId);
    __privateAdd(this, _timeoutId);
    __privateAdd(this, _strict);
    __privateAdd(this, _strictTicks, []);
    __privateAdd(this, _strictTicksStartIndex, 0);
    __privateAdd(this, _queue2);
    __privateAdd(this, _queueClass);
    __privateAdd(this, _pending, 0);
    __privateAdd(this, _concurrency);
    __privateAdd(this, _isPaused);
    __privateAdd(this, _idAssigner, 1n);
    __privateAdd(this, _runningTasks, /* @__PURE__ */ new Map());
    /**
    Get or set the default timeout for all tasks. Can be changed at runtime.
    
    Operations will throw a `TimeoutError` if they don't complete within the specified time.
    
    The timeout begins when the operation is dequeued and starts execution, not while it's waiting in the queue.
    
    @example
    ```
    const queue = new PQueue({timeout: 5000});
    
    // Change timeout for all future tasks
    queue.timeout = 10000;
    ```
    */
    __publicField(this, "timeout");
    options = {
      carryoverIntervalCount: false,
      intervalCap: Number.POSITIVE_INFINITY,
      interval: 0,
      concurrency: Number.POSITIVE_INFINITY,
      autoStart: true,
      queueClass: PriorityQueue,
      strict: false,
      ...options
    };
    if (!(typeof options.intervalCap === "number" && options.intervalCap >= 1)) throw new TypeError(`Expected \`intervalCap\` to be a number from 1 and up, got \`${((_a17 = options.intervalCap) == null ? void 0 : _a17.toString()) ?? ""}\` (${typeof options.intervalCap})`);
    if (options.interval === void 0 || !(Number.isFinite(options.interval) && options.interval >= 0)) throw new TypeError(`Expected \`interval\` to be a finite number >= 0, got \`${((_b = options.interval) == null ? void 0 : _b.toString()) ?? ""}\` (${typeof options.interval})`);
    if (options.strict && options.interval === 0) throw new TypeError("The `strict` option requires a non-zero `interval`");
    if (options.strict && options.intervalCap === Number.POSITIVE_INFINITY) throw new TypeError("The `strict` option requires a finite `intervalCap`");
    __privateSet(this, _carryoverIntervalCount, options.carryoverIntervalCount ?? options.carryoverConcurrencyCount ?? false);
    __privateSet(this, _isIntervalIgnored, options.intervalCap === Number.POSITIVE_INFINITY || options.interval === 0);
    __privateSet(this, _intervalCap, options.intervalCap);
    __privateSet(this, _interval, options.interval);
    __privateSet(this, _strict, options.strict);
    __privateSet(this, _queue2, new options.queueClass());
    __privateSet(this, _queueClass, options.queueClass);
    this.concurrency = options.concurrency;
    if (options.timeout !== void 0 && !(Number.isFinite(options.timeout) && options.timeout > 0)) throw new TypeError(`Expected \`timeout\` to be a positive finite number, got \`${options.timeout}\` (${typeof options.timeout})`);
    this.timeout = options.timeout;
    __privateSet(this, _isPaused, options.autoStart === false);
    __privateMethod(this, _PQueue_instances, setupRateLimitTracking_fn).call(this);
  }
  get concurrency() {
    return __privateGet(this, _concurrency);
  }
  set concurrency(newConcurrency) {
    if (!(typeof newConcurrency === "number" && newConcurrency >= 1)) throw new TypeError(`Expected \`concurrency\` to be a number from 1 and up, got \`${newConcurrency}\` (${typeof newConcurrency})`);
    __privateSet(this, _concurrency, newConcurrency);
    __privateMethod(this, _PQueue_instances, processQueue_fn).call(this);
  }
  /**
  Updates the priority of a promise function by its id, affecting its execution order. Requires a defined concurrency limit to take effect.
  
  For example, this can be used to prioritize a promise function to run earlier.
  
  ```js
  import PQueue from 'p-queue';
  
  const queue = new PQueue({concurrency: 1});
  
  queue.add(async () => '🦄', {priority: 1});
  queue.add(async () => '🦀', {priority: 0, id: '🦀'});
  queue.add(async () => '🦄', {priority: 1});
  queue.add(async () => '🦄', {priority: 1});
  
  queue.setPriority('🦀', 2);
  ```
  
  In this case, the promise function with `id: '🦀'` runs second.
  
  You can also deprioritize a promise function to delay its execution:
  
  ```js
  import PQueue from 'p-queue';
  
  const queue = new PQueue({concurrency: 1});
  
  queue.add(async () => '🦄', {priority: 1});
  queue.add(async () => '🦀', {priority: 1, id: '🦀'});
  queue.add(async () => '🦄');
  queue.add(async () => '🦄', {priority: 0});
  
  queue.setPriority('🦀', -1);
  ```
  Here, the promise function with `id: '🦀'` executes last.
  */
  setPriority(id, priority) {
    if (typeof priority !== "number" || !Number.isFinite(priority)) throw new TypeError(`Expected \`priority\` to be a finite number, got \`${priority}\` (${typeof priority})`);
    __privateGet(this, _queue2).setPriority(id, priority);
  }
  async add(function_, options = {}) {
    options = {
      timeout: this.timeout,
      ...options,
      id: options.id ?? (__privateWrapper(this, _idAssigner)._++).toString()
    };
    return new Promise((resolve, reject) => {
      const taskSymbol = Symbol(`task-${options.id}`);
      __privateGet(this, _queue2).enqueue(async () => {
        var _a17, _b;
        __privateWrapper(this, _pending)._++;
        __privateGet(this, _runningTasks).set(taskSymbol, {
          id: options.id,
          priority: options.priority ?? 0,
          startTime: Date.now(),
          timeout: options.timeout
        });
        let eventListener;
        try {
          try {
            (_a17 = options.signal) == null ? void 0 : _a17.throwIfAborted();
          } catch (error) {
            __privateMethod(this, _PQueue_instances, rollbackIntervalConsumption_fn).call(this);
            __privateGet(this, _runningTasks).delete(taskSymbol);
            throw error;
          }
          __privateSet(this, _lastExecutionTime, Date.now());
          let operation = function_({ signal: options.signal });
          if (options.timeout) operation = pTimeout(Promise.resolve(operation), {
            milliseconds: options.timeout,
            message: `Task timed out after ${options.timeout}ms (queue has ${__privateGet(this, _pending)} running, ${__privateGet(this, _queue2).size} waiting)`
          });
          if (options.signal) {
            const { signal } = options;
            operation = Promise.race([operation, new Promise((_resolve, reject2) => {
              eventListener = () => {
                reject2(signal.reason);
              };
              signal.addEventListener("abort", eventListener, { once: true });
            })]);
          }
          const result = await operation;
          resolve(result);
          this.emit("completed", result);
        } catch (error) {
          reject(error);
          this.emit("error", error);
        } finally {
          if (eventListener) (_b = options.signal) == null ? void 0 : _b.removeEventListener("abort", eventListener);
          __privateGet(this, _runningTasks).delete(taskSymbol);
          queueMicrotask(() => {
            __privateMethod(this, _PQueue_instances, next_fn).call(this);
          });
        }
      }, options);
      this.emit("add");
      __privateMethod(this, _PQueue_instances, tryToStartAnother_fn).call(this);
    });
  }
  async addAll(functions, options) {
    return Promise.all(functions.map(async (function_) => this.add(function_, options)));
  }
  /**
  Start (or resume) executing enqueued tasks within concurrency limit. No need to call this if queue is not paused (via `options.autoStart = false` or by `.pause()` method.)
  */
  start() {
    if (!__privateGet(this, _isPaused)) return this;
    __privateSet(this, _isPaused, false);
    __privateMethod(this, _PQueue_instances, processQueue_fn).call(this);
    return this;
  }
  /**
  Put queue execution on hold.
  */
  pause() {
    __privateSet(this, _isPaused, true);
  }
  /**
  Clear the queue.
  */
  clear() {
    __privateSet(this, _queue2, new (__privateGet(this, _queueClass))());
    __privateMethod(this, _PQueue_instances, clearIntervalTimer_fn).call(this);
    __privateMethod(this, _PQueue_instances, updateRateLimitState_fn).call(this);
    this.emit("empty");
    if (__privateGet(this, _pending) === 0) {
      __privateMethod(this, _PQueue_instances, clearTimeoutTimer_fn).call(this);
      this.emit("idle");
    }
    this.emit("next");
  }
  /**
  Can be called multiple times. Useful if you for example add additional items at a later time.
  
  @returns A promise that settles when the queue becomes empty.
  */
  async onEmpty() {
    if (__privateGet(this, _queue2).size === 0) return;
    await __privateMethod(this, _PQueue_instances, onEvent_fn).call(this, "empty");
  }
  /**
  @returns A promise that settles when the queue size is less than the given limit: `queue.size < limit`.
  
  If you want to avoid having the queue grow beyond a certain size you can `await queue.onSizeLessThan()` before adding a new item.
  
  Note that this only limits the number of items waiting to start. There could still be up to `concurrency` jobs already running that this call does not include in its calculation.
  */
  async onSizeLessThan(limit) {
    if (__privateGet(this, _queue2).size < limit) return;
    await __privateMethod(this, _PQueue_instances, onEvent_fn).call(this, "next", () => __privateGet(this, _queue2).size < limit);
  }
  /**
  The difference with `.onEmpty` is that `.onIdle` guarantees that all work from the queue has finished. `.onEmpty` merely signals that the queue is empty, but it could mean that some promises haven't completed yet.
  
  @returns A promise that settles when the queue becomes empty, and all promises have completed; `queue.size === 0 && queue.pending === 0`.
  */
  async onIdle() {
    if (__privateGet(this, _pending) === 0 && __privateGet(this, _queue2).size === 0) return;
    await __privateMethod(this, _PQueue_instances, onEvent_fn).call(this, "idle");
  }
  /**
  The difference with `.onIdle` is that `.onPendingZero` only waits for currently running tasks to finish, ignoring queued tasks.
  
  @returns A promise that settles when all currently running tasks have completed; `queue.pending === 0`.
  */
  async onPendingZero() {
    if (__privateGet(this, _pending) === 0) return;
    await __privateMethod(this, _PQueue_instances, onEvent_fn).call(this, "pendingZero");
  }
  /**
  @returns A promise that settles when the queue becomes rate-limited due to intervalCap.
  */
  async onRateLimit() {
    if (this.isRateLimited) return;
    await __privateMethod(this, _PQueue_instances, onEvent_fn).call(this, "rateLimit");
  }
  /**
  @returns A promise that settles when the queue is no longer rate-limited.
  */
  async onRateLimitCleared() {
    if (!this.isRateLimited) return;
    await __privateMethod(this, _PQueue_instances, onEvent_fn).call(this, "rateLimitCleared");
  }
  /**
  @returns A promise that rejects when any task in the queue errors.
  
  Use with `Promise.race([queue.onError(), queue.onIdle()])` to fail fast on the first error while still resolving normally when the queue goes idle.
  
  Important: The promise returned by `add()` still rejects. You must handle each `add()` promise (for example, `.catch(() => {})`) to avoid unhandled rejections.
  
  @example
  ```
  import PQueue from 'p-queue';
  
  const queue = new PQueue({concurrency: 2});
  
  queue.add(() => fetchData(1)).catch(() => {});
  queue.add(() => fetchData(2)).catch(() => {});
  queue.add(() => fetchData(3)).catch(() => {});
  
  // Stop processing on first error
  try {
  await Promise.race([
  queue.onError(),
  queue.onIdle()
  ]);
  } catch (error) {
  queue.pause(); // Stop processing remaining tasks
  console.error('Queue failed:', error);
  }
  ```
  */
  onError() {
    return new Promise((_resolve, reject) => {
      const handleError = (error) => {
        this.off("error", handleError);
        reject(error);
      };
      this.on("error", handleError);
    });
  }
  /**
  Size of the queue, the number of queued items waiting to run.
  */
  get size() {
    return __privateGet(this, _queue2).size;
  }
  /**
  Size of the queue, filtered by the given options.
  
  For example, this can be used to find the number of items remaining in the queue with a specific priority level.
  */
  sizeBy(options) {
    return __privateGet(this, _queue2).filter(options).length;
  }
  /**
  Number of running items (no longer in the queue).
  */
  get pending() {
    return __privateGet(this, _pending);
  }
  /**
  Whether the queue is currently paused.
  */
  get isPaused() {
    return __privateGet(this, _isPaused);
  }
  /**
  Whether the queue is currently rate-limited due to intervalCap.
  */
  get isRateLimited() {
    return __privateGet(this, _rateLimitedInInterval);
  }
  /**
  Whether the queue is saturated. Returns `true` when:
  - All concurrency slots are occupied and tasks are waiting, OR
  - The queue is rate-limited and tasks are waiting
  
  Useful for detecting backpressure and potential hanging tasks.
  
  ```js
  import PQueue from 'p-queue';
  
  const queue = new PQueue({concurrency: 2});
  
  // Backpressure handling
  if (queue.isSaturated) {
  console.log('Queue is saturated, waiting for capacity...');
  await queue.onSizeLessThan(queue.concurrency);
  }
  
  // Monitoring for stuck tasks
  setInterval(() => {
  if (queue.isSaturated) {
  console.warn(`Queue saturated: ${queue.pending} running, ${queue.size} waiting`);
  }
  }, 60000);
  ```
  */
  get isSaturated() {
    return __privateGet(this, _pending) === __privateGet(this, _concurrency) && __privateGet(this, _queue2).size > 0 || this.isRateLimited && __privateGet(this, _queue2).size > 0;
  }
  /**
  The tasks currently being executed. Each task includes its `id`, `priority`, `startTime`, and `timeout` (if set).
  
  Returns an array of task info objects.
  
  ```js
  import PQueue from 'p-queue';
  
  const queue = new PQueue({concurrency: 2});
  
  // Add tasks with IDs for better debugging
  queue.add(() => fetchUser(123), {id: 'user-123'});
  queue.add(() => fetchPosts(456), {id: 'posts-456', priority: 1});
  
  // Check what's running
  console.log(queue.runningTasks);
  // => [{
  //   id: 'user-123',
  //   priority: 0,
  //   startTime: 1759253001716,
  //   timeout: undefined
  // }, {
  //   id: 'posts-456',
  //   priority: 1,
  //   startTime: 1759253001916,
  //   timeout: undefined
  // }]
  ```
  */
  get runningTasks() {
    return [...__privateGet(this, _runningTasks).values()].map((task) => ({ ...task }));
  }
}, _carryoverIntervalCount = new WeakMap(), _isIntervalIgnored = new WeakMap(), _intervalCount = new WeakMap(), _intervalCap = new WeakMap(), _rateLimitedInInterval = new WeakMap(), _rateLimitFlushScheduled = new WeakMap(), _interval = new WeakMap(), _intervalEnd = new WeakMap(), _lastExecutionTime = new WeakMap(), _intervalId = new WeakMap(), _timeoutId = new WeakMap(), _strict = new WeakMap(), _strictTicks = new WeakMap(), _strictTicksStartIndex = new WeakMap(), _queue2 = new WeakMap(), _queueClass = new WeakMap(), _pending = new WeakMap(), _concurrency = new WeakMap(), _isPaused = new WeakMap(), _idAssigner = new WeakMap(), _runningTasks = new WeakMap(), _PQueue_instances = new WeakSet(), cleanupStrictTicks_fn = function(now) {
  while (__privateGet(this, _strictTicksStartIndex) < __privateGet(this, _strictTicks).length) {
    const oldestTick = __privateGet(this, _strictTicks)[__privateGet(this, _strictTicksStartIndex)];
    if (oldestTick !== void 0 && now - oldestTick >= __privateGet(this, _interval)) __privateWrapper(this, _strictTicksStartIndex)._++;
    else break;
  }
  if (__privateGet(this, _strictTicksStartIndex) > 100 && __privateGet(this, _strictTicksStartIndex) > __privateGet(this, _strictTicks).length / 2 || __privateGet(this, _strictTicksStartIndex) === __privateGet(this, _strictTicks).length) {
    __privateSet(this, _strictTicks, __privateGet(this, _strictTicks).slice(__privateGet(this, _strictTicksStartIndex)));
    __privateSet(this, _strictTicksStartIndex, 0);
  }
}, consumeIntervalSlot_fn = function(now) {
  if (__privateGet(this, _strict)) __privateGet(this, _strictTicks).push(now);
  else __privateWrapper(this, _intervalCount)._++;
}, rollbackIntervalSlot_fn = function() {
  if (__privateGet(this, _strict)) {
    if (__privateGet(this, _strictTicks).length > __privateGet(this, _strictTicksStartIndex)) __privateGet(this, _strictTicks).pop();
  } else if (__privateGet(this, _intervalCount) > 0) __privateWrapper(this, _intervalCount)._--;
}, getActiveTicksCount_fn = function() {
  return __privateGet(this, _strictTicks).length - __privateGet(this, _strictTicksStartIndex);
}, doesIntervalAllowAnother_get = function() {
  if (__privateGet(this, _isIntervalIgnored)) return true;
  if (__privateGet(this, _strict)) return __privateMethod(this, _PQueue_instances, getActiveTicksCount_fn).call(this) < __privateGet(this, _intervalCap);
  return __privateGet(this, _intervalCount) < __privateGet(this, _intervalCap);
}, doesConcurrentAllowAnother_get = function() {
  return __privateGet(this, _pending) < __privateGet(this, _concurrency);
}, next_fn = function() {
  __privateWrapper(this, _pending)._--;
  if (__privateGet(this, _pending) === 0) this.emit("pendingZero");
  __privateMethod(this, _PQueue_instances, tryToStartAnother_fn).call(this);
  this.emit("next");
}, onResumeInterval_fn = function() {
  __privateSet(this, _timeoutId, void 0);
  __privateMethod(this, _PQueue_instances, onInterval_fn).call(this);
  __privateMethod(this, _PQueue_instances, initializeIntervalIfNeeded_fn).call(this);
}, isIntervalPausedAt_fn = function(now) {
  if (__privateGet(this, _strict)) {
    __privateMethod(this, _PQueue_instances, cleanupStrictTicks_fn).call(this, now);
    if (__privateMethod(this, _PQueue_instances, getActiveTicksCount_fn).call(this) >= __privateGet(this, _intervalCap)) {
      const oldestTick = __privateGet(this, _strictTicks)[__privateGet(this, _strictTicksStartIndex)];
      const delay = __privateGet(this, _interval) - (now - oldestTick);
      __privateMethod(this, _PQueue_instances, createIntervalTimeout_fn).call(this, delay);
      return true;
    }
    return false;
  }
  if (__privateGet(this, _intervalId) === void 0) {
    const delay = __privateGet(this, _intervalEnd) - now;
    if (delay < 0) {
      if (__privateGet(this, _lastExecutionTime) > 0) {
        const timeSinceLastExecution = now - __privateGet(this, _lastExecutionTime);
        if (timeSinceLastExecution < __privateGet(this, _interval)) {
          __privateMethod(this, _PQueue_instances, createIntervalTimeout_fn).call(this, __privateGet(this, _interval) - timeSinceLastExecution);
          return true;
        }
      }
      __privateSet(this, _intervalCount, __privateGet(this, _carryoverIntervalCount) ? __privateGet(this, _pending) : 0);
    } else {
      __privateMethod(this, _PQueue_instances, createIntervalTimeout_fn).call(this, delay);
      return true;
    }
  }
  return false;
}, createIntervalTimeout_fn = function(delay) {
  if (__privateGet(this, _timeoutId) !== void 0) return;
  __privateSet(this, _timeoutId, setTimeout(() => {
    __privateMethod(this, _PQueue_instances, onResumeInterval_fn).call(this);
  }, delay));
}, clearIntervalTimer_fn = function() {
  if (__privateGet(this, _intervalId)) {
    clearInterval(__privateGet(this, _intervalId));
    __privateSet(this, _intervalId, void 0);
  }
}, clearTimeoutTimer_fn = function() {
  if (__privateGet(this, _timeoutId)) {
    clearTimeout(__privateGet(this, _timeoutId));
    __privateSet(this, _timeoutId, void 0);
  }
}, tryToStartAnother_fn = function() {
  if (__privateGet(this, _queue2).size === 0) {
    __privateMethod(this, _PQueue_instances, clearIntervalTimer_fn).call(this);
    this.emit("empty");
    if (__privateGet(this, _pending) === 0) {
      __privateMethod(this, _PQueue_instances, clearTimeoutTimer_fn).call(this);
      if (__privateGet(this, _strict) && __privateGet(this, _strictTicksStartIndex) > 0) {
        const now = Date.now();
        __privateMethod(this, _PQueue_instances, cleanupStrictTicks_fn).call(this, now);
      }
      this.emit("idle");
    }
    return false;
  }
  let taskStarted = false;
  if (!__privateGet(this, _isPaused)) {
    const now = Date.now();
    const canInitializeInterval = !__privateMethod(this, _PQueue_instances, isIntervalPausedAt_fn).call(this, now);
    if (__privateGet(this, _PQueue_instances, doesIntervalAllowAnother_get) && __privateGet(this, _PQueue_instances, doesConcurrentAllowAnother_get)) {
      const job = __privateGet(this, _queue2).dequeue();
      if (!__privateGet(this, _isIntervalIgnored)) {
        __privateMethod(this, _PQueue_instances, consumeIntervalSlot_fn).call(this, now);
        __privateMethod(this, _PQueue_instances, scheduleRateLimitUpdate_fn).call(this);
      }
      this.emit("active");
      job();
      if (canInitializeInterval) __privateMethod(this, _PQueue_instances, initializeIntervalIfNeeded_fn).call(this);
      taskStarted = true;
    }
  }
  return taskStarted;
}, initializeIntervalIfNeeded_fn = function() {
  if (__privateGet(this, _isIntervalIgnored) || __privateGet(this, _intervalId) !== void 0) return;
  if (__privateGet(this, _strict)) return;
  __privateSet(this, _intervalId, setInterval(() => {
    __privateMethod(this, _PQueue_instances, onInterval_fn).call(this);
  }, __privateGet(this, _interval)));
  __privateSet(this, _intervalEnd, Date.now() + __privateGet(this, _interval));
}, onInterval_fn = function() {
  if (!__privateGet(this, _strict)) {
    if (__privateGet(this, _intervalCount) === 0 && __privateGet(this, _pending) === 0 && __privateGet(this, _intervalId)) __privateMethod(this, _PQueue_instances, clearIntervalTimer_fn).call(this);
    __privateSet(this, _intervalCount, __privateGet(this, _carryoverIntervalCount) ? __privateGet(this, _pending) : 0);
  }
  __privateMethod(this, _PQueue_instances, processQueue_fn).call(this);
  __privateMethod(this, _PQueue_instances, scheduleRateLimitUpdate_fn).call(this);
}, /**
Executes all queued functions until it reaches the limit.
*/
processQueue_fn = function() {
  while (__privateMethod(this, _PQueue_instances, tryToStartAnother_fn).call(this)) ;
}, onEvent_fn = async function(event, filter) {
  return new Promise((resolve) => {
    const listener = () => {
      if (filter && !filter()) return;
      this.off(event, listener);
      resolve();
    };
    this.on(event, listener);
  });
}, setupRateLimitTracking_fn = function() {
  if (__privateGet(this, _isIntervalIgnored)) return;
  this.on("add", () => {
    if (__privateGet(this, _queue2).size > 0) __privateMethod(this, _PQueue_instances, scheduleRateLimitUpdate_fn).call(this);
  });
  this.on("next", () => {
    __privateMethod(this, _PQueue_instances, scheduleRateLimitUpdate_fn).call(this);
  });
}, scheduleRateLimitUpdate_fn = function() {
  if (__privateGet(this, _isIntervalIgnored) || __privateGet(this, _rateLimitFlushScheduled)) return;
  __privateSet(this, _rateLimitFlushScheduled, true);
  queueMicrotask(() => {
    __privateSet(this, _rateLimitFlushScheduled, false);
    __privateMethod(this, _PQueue_instances, updateRateLimitState_fn).call(this);
  });
}, rollbackIntervalConsumption_fn = function() {
  if (__privateGet(this, _isIntervalIgnored)) return;
  __privateMethod(this, _PQueue_instances, rollbackIntervalSlot_fn).call(this);
  __privateMethod(this, _PQueue_instances, scheduleRateLimitUpdate_fn).call(this);
}, updateRateLimitState_fn = function() {
  const previous = __privateGet(this, _rateLimitedInInterval);
  if (__privateGet(this, _isIntervalIgnored) || __privateGet(this, _queue2).size === 0) {
    if (previous) {
      __privateSet(this, _rateLimitedInInterval, false);
      this.emit("rateLimitCleared");
    }
    return;
  }
  let count;
  if (__privateGet(this, _strict)) {
    const now = Date.now();
    __privateMethod(this, _PQueue_instances, cleanupStrictTicks_fn).call(this, now);
    count = __privateMethod(this, _PQueue_instances, getActiveTicksCount_fn).call(this);
  } else count = __privateGet(this, _intervalCount);
  const shouldBeRateLimited = count >= __privateGet(this, _intervalCap);
  if (shouldBeRateLimited !== previous) {
    __privateSet(this, _rateLimitedInInterval, shouldBeRateLimited);
    this.emit(shouldBeRateLimited ? "rateLimit" : "rateLimitCleared");
  }
}, _a2);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/utils/async_caller.js
var pRetry2 = typeof pRetry === "function" ? pRetry : pRetry.default;
var STATUS_NO_RETRY = [
  400,
  401,
  402,
  403,
  404,
  405,
  406,
  407,
  408,
  409,
  422
];
function isResponse(x) {
  if (x == null || typeof x !== "object") return false;
  return "status" in x && "statusText" in x && "text" in x;
}
var HTTPError = class HTTPError2 extends Error {
  constructor(status, message, response) {
    super(`HTTP ${status}: ${message}`);
    __publicField(this, "status");
    __publicField(this, "text");
    __publicField(this, "response");
    this.status = status;
    this.text = message;
    this.response = response;
  }
  static async fromResponse(response, options) {
    try {
      return new HTTPError2(response.status, await response.text(), (options == null ? void 0 : options.includeResponse) ? response : void 0);
    } catch {
      return new HTTPError2(response.status, response.statusText, (options == null ? void 0 : options.includeResponse) ? response : void 0);
    }
  }
};
var AsyncCaller = class {
  constructor(params) {
    __publicField(this, "maxConcurrency");
    __publicField(this, "maxRetries");
    __publicField(this, "queue");
    __publicField(this, "onFailedResponseHook");
    __publicField(this, "customFetch");
    this.maxConcurrency = params.maxConcurrency ?? Infinity;
    this.maxRetries = params.maxRetries ?? 4;
    if ("default" in PQueue) this.queue = new PQueue.default({ concurrency: this.maxConcurrency });
    else this.queue = new PQueue({ concurrency: this.maxConcurrency });
    this.onFailedResponseHook = params == null ? void 0 : params.onFailedResponseHook;
    this.customFetch = params.fetch;
  }
  call(callable, ...args) {
    const { onFailedResponseHook } = this;
    return this.queue.add(() => pRetry2(() => callable(...args).catch(async (error) => {
      if (error instanceof Error) throw error;
      else if (isResponse(error)) throw await HTTPError.fromResponse(error, { includeResponse: true });
      else throw new Error(error);
    }), {
      async onFailedAttempt({ error, retriesLeft }) {
        const errorMessage = error.message ?? "";
        if (errorMessage.startsWith("Cancel") || errorMessage.startsWith("TimeoutError") || errorMessage.startsWith("AbortError")) throw error;
        if ((error == null ? void 0 : error.code) === "ECONNABORTED") throw error;
        if (errorMessage.includes("ECONNREFUSED") || errorMessage.includes("fetch failed") || errorMessage.includes("Failed to fetch") || errorMessage.includes("NetworkError")) {
          if (retriesLeft > 0) return;
          const connectionError = new Error(`Unable to connect to LangGraph server. Please ensure the server is running and accessible. Original error: ${errorMessage}`);
          connectionError.name = "ConnectionError";
          throw connectionError;
        }
        if (error instanceof HTTPError) {
          if (STATUS_NO_RETRY.includes(error.status)) throw error;
          if (onFailedResponseHook && error.response) await onFailedResponseHook(error.response);
        }
      },
      retries: this.maxRetries,
      randomize: true
    }), { throwOnTimeout: true });
  }
  callWithOptions(options, callable, ...args) {
    if (options.signal) return Promise.race([this.call(callable, ...args), new Promise((_, reject) => {
      var _a17;
      (_a17 = options.signal) == null ? void 0 : _a17.addEventListener("abort", () => {
        reject(new Error("AbortError"));
      });
    })]);
    return this.call(callable, ...args);
  }
  fetch(...args) {
    const fetchFn = this.customFetch ?? _getFetchImplementation();
    return this.call(() => fetchFn(...args).then((res) => res.ok ? res : Promise.reject(res)));
  }
};

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/utils/env.js
function getEnvironmentVariable(name) {
  var _a17;
  try {
    return typeof process !== "undefined" ? (_a17 = process.env) == null ? void 0 : _a17[name] : void 0;
  } catch {
    return;
  }
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/utils/signals.js
function mergeSignals(...signals) {
  const nonZeroSignals = signals.filter((signal) => signal != null);
  if (nonZeroSignals.length === 0) return void 0;
  if (nonZeroSignals.length === 1) return nonZeroSignals[0];
  const controller = new AbortController();
  for (const signal of signals) {
    if (signal == null ? void 0 : signal.aborted) {
      controller.abort(signal.reason);
      return controller.signal;
    }
    signal == null ? void 0 : signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
  }
  return controller.signal;
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/utils/sse.js
var CR = "\r".charCodeAt(0);
var LF = "\n".charCodeAt(0);
var NULL = "\0".charCodeAt(0);
var COLON = ":".charCodeAt(0);
var SPACE = " ".charCodeAt(0);
var TRAILING_NEWLINE = [CR, LF];
function BytesLineDecoder() {
  let buffer = [];
  let trailingCr = false;
  return new TransformStream({
    start() {
      buffer = [];
      trailingCr = false;
    },
    transform(chunk, controller) {
      let text = chunk;
      if (trailingCr) {
        text = joinArrays([[CR], text]);
        trailingCr = false;
      }
      if (text.length > 0 && text.at(-1) === CR) {
        trailingCr = true;
        text = text.subarray(0, -1);
      }
      if (!text.length) return;
      const trailingNewline = TRAILING_NEWLINE.includes(text.at(-1));
      const lastIdx = text.length - 1;
      const { lines } = text.reduce((acc, cur, idx) => {
        if (acc.from > idx) return acc;
        if (cur === CR || cur === LF) {
          acc.lines.push(text.subarray(acc.from, idx));
          if (cur === CR && text[idx + 1] === LF) acc.from = idx + 2;
          else acc.from = idx + 1;
        }
        if (idx === lastIdx && acc.from <= lastIdx) acc.lines.push(text.subarray(acc.from));
        return acc;
      }, {
        lines: [],
        from: 0
      });
      if (lines.length === 1 && !trailingNewline) {
        buffer.push(lines[0]);
        return;
      }
      if (buffer.length) {
        buffer.push(lines[0]);
        lines[0] = joinArrays(buffer);
        buffer = [];
      }
      if (!trailingNewline) {
        if (lines.length) buffer = [lines.pop()];
      }
      for (const line of lines) controller.enqueue(line);
    },
    flush(controller) {
      if (buffer.length) controller.enqueue(joinArrays(buffer));
    }
  });
}
function SSEDecoder() {
  let event = "";
  let data = [];
  let lastEventId = "";
  let retry = null;
  const decoder = new TextDecoder();
  return new TransformStream({
    transform(chunk, controller) {
      if (!chunk.length) {
        if (!event && !data.length && !lastEventId && retry == null) return;
        const sse = {
          id: lastEventId || void 0,
          event,
          data: data.length ? decodeArraysToJson(decoder, data) : null
        };
        event = "";
        data = [];
        retry = null;
        controller.enqueue(sse);
        return;
      }
      if (chunk[0] === COLON) return;
      const sepIdx = chunk.indexOf(COLON);
      if (sepIdx === -1) return;
      const fieldName = decoder.decode(chunk.subarray(0, sepIdx));
      let value = chunk.subarray(sepIdx + 1);
      if (value[0] === SPACE) value = value.subarray(1);
      if (fieldName === "event") event = decoder.decode(value);
      else if (fieldName === "data") data.push(value);
      else if (fieldName === "id") {
        if (value.indexOf(NULL) === -1) lastEventId = decoder.decode(value);
      } else if (fieldName === "retry") {
        const retryNum = Number.parseInt(decoder.decode(value), 10);
        if (!Number.isNaN(retryNum)) retry = retryNum;
      }
    },
    flush(controller) {
      if (event) controller.enqueue({
        id: lastEventId || void 0,
        event,
        data: data.length ? decodeArraysToJson(decoder, data) : null
      });
    }
  });
}
function joinArrays(data) {
  const totalLength = data.reduce((acc, curr) => acc + curr.length, 0);
  const merged = new Uint8Array(totalLength);
  let offset = 0;
  for (const c of data) {
    merged.set(c, offset);
    offset += c.length;
  }
  return merged;
}
function decodeArraysToJson(decoder, data) {
  return JSON.parse(decoder.decode(joinArrays(data)));
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/utils/error.js
var isError2 = (error) => {
  if ("isError" in Error && typeof Error.isError === "function") return Error.isError(error);
  const stringTag = Object.prototype.toString.call(error);
  return stringTag === "[object Error]" || stringTag === "[object DOMException]" || stringTag === "[object DOMError]" || stringTag === "[object Exception]";
};
var getCauseError = (error) => {
  const { cause } = error;
  if (typeof cause !== "object" || cause == null) return null;
  if (!isError2(cause)) return null;
  return cause;
};
var isNetworkError2 = (error) => {
  var _a17, _b;
  if (!isError2(error)) return false;
  if (error.name !== "TypeError" || typeof error.message !== "string") return false;
  const msg = error.message.toLowerCase();
  const causeMsg = ((_b = (_a17 = getCauseError(error)) == null ? void 0 : _a17.message) == null ? void 0 : _b.toLowerCase()) ?? "";
  return msg.includes("fetch") || msg.includes("network") || msg.includes("connection") || msg.includes("error sending request") || msg.includes("load failed") || msg.includes("terminated") || causeMsg.includes("other side closed") || causeMsg.includes("socket");
};

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/utils/reconnect.js
var DEFAULT_RECONNECT_BASE_DELAY_MS = 1e3;
var DEFAULT_RECONNECT_MAX_DELAY_MS = 5e3;
var DEFAULT_RECONNECT_JITTER_MS = 1e3;
function reconnectDelayMs(attempt) {
  return Math.min(DEFAULT_RECONNECT_BASE_DELAY_MS * 2 ** (attempt - 1), DEFAULT_RECONNECT_MAX_DELAY_MS) + Math.random() * DEFAULT_RECONNECT_JITTER_MS;
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/utils/stream.js
var MaxReconnectAttemptsError = class extends Error {
  constructor(maxAttempts, cause) {
    super(`Exceeded maximum SSE reconnection attempts (${maxAttempts})`);
    this.name = "MaxReconnectAttemptsError";
    this.cause = cause;
  }
};
var StreamIdleTimeoutError = class extends Error {
  constructor(idleTimeoutMs) {
    super(`No SSE bytes received for ${idleTimeoutMs}ms; assuming the connection is half-open and reconnecting.`);
    __publicField(this, "idleTimeoutMs");
    this.name = "StreamIdleTimeoutError";
    this.idleTimeoutMs = idleTimeoutMs;
  }
};
var SSE_COMMENT_BYTE = 58;
function idleReconnectStream(options) {
  const factor = options.timeoutFactor ?? 3;
  const minTimeoutMs = options.minTimeoutMs ?? 6e3;
  const maxTimeoutMs = options.maxTimeoutMs ?? 3e4;
  const fixedTimeoutMs = typeof options.mode === "number" ? options.mode : null;
  let timer;
  let controllerRef;
  let lastHeartbeatAt;
  let derivedTimeoutMs = fixedTimeoutMs;
  const clear = () => {
    if (timer != null) {
      clearTimeout(timer);
      timer = void 0;
    }
  };
  const arm = () => {
    var _a17;
    clear();
    const timeoutMs = derivedTimeoutMs;
    if (timeoutMs == null || timeoutMs <= 0) return;
    timer = setTimeout(() => {
      var _a18;
      (_a18 = options.onIdle) == null ? void 0 : _a18.call(options, {
        timeoutMs,
        source: fixedTimeoutMs != null ? "fixed" : "heartbeat"
      });
      try {
        controllerRef == null ? void 0 : controllerRef.error(new StreamIdleTimeoutError(timeoutMs));
      } catch {
      }
    }, timeoutMs);
    (_a17 = timer.unref) == null ? void 0 : _a17.call(timer);
  };
  const noteHeartbeat = () => {
    if (fixedTimeoutMs != null) return;
    const now = Date.now();
    if (lastHeartbeatAt != null) {
      const interval = now - lastHeartbeatAt;
      if (interval > 0) {
        const candidate = Math.min(Math.max(interval * factor, minTimeoutMs), maxTimeoutMs);
        derivedTimeoutMs = derivedTimeoutMs == null ? candidate : Math.max(derivedTimeoutMs, candidate);
      }
    }
    lastHeartbeatAt = now;
  };
  return new TransformStream({
    start(controller) {
      controllerRef = controller;
      arm();
    },
    transform(line, controller) {
      if (line.length > 0 && line[0] === SSE_COMMENT_BYTE) noteHeartbeat();
      arm();
      controller.enqueue(line);
    },
    flush() {
      clear();
    }
  });
}
async function* streamWithRetry(makeRequest, options = {}) {
  var _a17, _b, _c, _d, _e, _f;
  const maxRetries = options.maxRetries ?? 5;
  let attempt = 0;
  let lastEventId;
  let reconnectPath;
  while (true) {
    let shouldRetry = false;
    let lastError;
    let reader;
    try {
      if ((_a17 = options.signal) == null ? void 0 : _a17.aborted) return;
      const { response, stream } = await makeRequest(reconnectPath ? {
        lastEventId,
        reconnectPath
      } : void 0);
      const locationHeader = response.headers.get("location");
      if (locationHeader) reconnectPath = locationHeader;
      const contentType = (_b = response.headers.get("content-type")) == null ? void 0 : _b.split(";")[0];
      if (contentType && !contentType.includes("text/event-stream")) throw new Error(`Expected response header Content-Type to contain 'text/event-stream', got '${contentType}'`);
      reader = stream.getReader();
      try {
        while (true) {
          if ((_c = options.signal) == null ? void 0 : _c.aborted) {
            await reader.cancel();
            return;
          }
          const { done, value } = await reader.read();
          if (done) break;
          if (value.id) lastEventId = value.id;
          yield value;
        }
        break;
      } catch (error) {
        if (reconnectPath && !((_d = options.signal) == null ? void 0 : _d.aborted)) shouldRetry = true;
        else throw error;
      } finally {
        if (reader) try {
          reader.releaseLock();
        } catch {
        }
      }
    } catch (error) {
      lastError = error;
      if (isNetworkError2(error) && reconnectPath && !((_e = options.signal) == null ? void 0 : _e.aborted)) shouldRetry = true;
      else throw error;
    }
    if (shouldRetry) {
      attempt += 1;
      if (attempt > maxRetries) throw new MaxReconnectAttemptsError(maxRetries, lastError);
      (_f = options.onReconnect) == null ? void 0 : _f.call(options, {
        attempt,
        lastEventId,
        cause: lastError
      });
      const delay = reconnectDelayMs(attempt);
      await new Promise((resolve) => {
        setTimeout(resolve, delay);
      });
      continue;
    }
    break;
  }
}
var IterableReadableStream = class IterableReadableStream2 extends ReadableStream {
  constructor() {
    super(...arguments);
    __publicField(this, "reader");
  }
  ensureReader() {
    if (!this.reader) this.reader = this.getReader();
  }
  async next() {
    this.ensureReader();
    try {
      const result = await this.reader.read();
      if (result.done) {
        this.reader.releaseLock();
        return {
          done: true,
          value: void 0
        };
      } else return {
        done: false,
        value: result.value
      };
    } catch (e) {
      this.reader.releaseLock();
      throw e;
    }
  }
  async return() {
    this.ensureReader();
    if (this.locked) {
      const cancelPromise = this.reader.cancel();
      this.reader.releaseLock();
      await cancelPromise;
    }
    return {
      done: true,
      value: void 0
    };
  }
  async throw(e) {
    this.ensureReader();
    if (this.locked) {
      const cancelPromise = this.reader.cancel();
      this.reader.releaseLock();
      await cancelPromise;
    }
    throw e;
  }
  async [Symbol.asyncDispose]() {
    await this.return();
  }
  [Symbol.asyncIterator]() {
    return this;
  }
  static fromReadableStream(stream) {
    const reader = stream.getReader();
    return new IterableReadableStream2({
      start(controller) {
        return pump();
        function pump() {
          return reader.read().then(({ done, value }) => {
            if (done) {
              controller.close();
              return;
            }
            controller.enqueue(value);
            return pump();
          });
        }
      },
      cancel() {
        reader.releaseLock();
      }
    });
  }
  static fromAsyncGenerator(generator) {
    return new IterableReadableStream2({
      async pull(controller) {
        const { value, done } = await generator.next();
        if (done) controller.close();
        controller.enqueue(value);
      },
      async cancel(reason) {
        await generator.return(reason);
      }
    });
  }
};

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/base.js
function* iterateHeaders(headers) {
  let iter;
  let shouldClear = false;
  if (headers instanceof Headers) {
    const entries = [];
    headers.forEach((value, name) => {
      entries.push([name, value]);
    });
    iter = entries;
  } else if (Array.isArray(headers)) iter = headers;
  else {
    shouldClear = true;
    iter = Object.entries(headers ?? {});
  }
  for (const item of iter) {
    const name = item[0];
    if (typeof name !== "string") throw new TypeError(`Expected header name to be a string, got ${typeof name}`);
    const values = Array.isArray(item[1]) ? item[1] : [item[1]];
    let didClear = false;
    for (const value of values) {
      if (value === void 0) continue;
      if (shouldClear && !didClear) {
        didClear = true;
        yield [name, null];
      }
      yield [name, value];
    }
  }
}
function mergeHeaders(...headerObjects) {
  const outputHeaders = new Headers();
  for (const headers of headerObjects) {
    if (!headers) continue;
    for (const [name, value] of iterateHeaders(headers)) if (value === null) outputHeaders.delete(name);
    else outputHeaders.append(name, value);
  }
  const headerEntries = [];
  outputHeaders.forEach((value, name) => {
    headerEntries.push([name, value]);
  });
  return Object.fromEntries(headerEntries);
}
function getApiKey(apiKey) {
  if (apiKey === null) return;
  if (apiKey) return apiKey;
  for (const prefix of [
    "LANGGRAPH",
    "LANGSMITH",
    "LANGCHAIN"
  ]) {
    const envKey = getEnvironmentVariable(`${prefix}_API_KEY`);
    if (envKey) return envKey.trim().replace(/^["']|["']$/g, "");
  }
}
var _BaseClient_instances, performFetch_fn, performFetchWithResponse_fn, _a3;
var BaseClient = (_a3 = class {
  constructor(config) {
    __privateAdd(this, _BaseClient_instances);
    __publicField(this, "asyncCaller");
    __publicField(this, "timeoutMs");
    __publicField(this, "apiUrl");
    __publicField(this, "defaultHeaders");
    __publicField(this, "onRequest");
    __publicField(this, "streamProtocol");
    var _a17;
    const callerOptions = {
      maxRetries: 4,
      maxConcurrency: 4,
      ...config == null ? void 0 : config.callerOptions
    };
    let defaultApiUrl = "http://localhost:8123";
    if (!(config == null ? void 0 : config.apiUrl) && typeof globalThis === "object" && globalThis != null) {
      const fetchSmb = Symbol.for("langgraph_api:fetch");
      const urlSmb = Symbol.for("langgraph_api:url");
      const global = globalThis;
      if (global[fetchSmb]) callerOptions.fetch ?? (callerOptions.fetch = global[fetchSmb]);
      if (global[urlSmb]) defaultApiUrl = global[urlSmb];
    }
    this.asyncCaller = new AsyncCaller(callerOptions);
    this.timeoutMs = config == null ? void 0 : config.timeoutMs;
    this.apiUrl = ((_a17 = config == null ? void 0 : config.apiUrl) == null ? void 0 : _a17.replace(/\/$/, "")) || defaultApiUrl;
    this.defaultHeaders = (config == null ? void 0 : config.defaultHeaders) || {};
    this.onRequest = config == null ? void 0 : config.onRequest;
    this.streamProtocol = (config == null ? void 0 : config.streamProtocol) ?? "legacy";
    const apiKey = getApiKey(config == null ? void 0 : config.apiKey);
    if (apiKey) this.defaultHeaders["x-api-key"] = apiKey;
  }
  prepareFetchOptions(path, options) {
    const mutatedOptions = {
      ...options,
      headers: mergeHeaders(this.defaultHeaders, options == null ? void 0 : options.headers)
    };
    if (mutatedOptions.json) {
      mutatedOptions.body = JSON.stringify(mutatedOptions.json);
      mutatedOptions.headers = mergeHeaders(mutatedOptions.headers, { "content-type": "application/json" });
      delete mutatedOptions.json;
    }
    if (mutatedOptions.withResponse) delete mutatedOptions.withResponse;
    if ("dedupe" in mutatedOptions) delete mutatedOptions.dedupe;
    let timeoutSignal = null;
    if (typeof (options == null ? void 0 : options.timeoutMs) !== "undefined") {
      if (options.timeoutMs != null) timeoutSignal = AbortSignal.timeout(options.timeoutMs);
    } else if (this.timeoutMs != null) timeoutSignal = AbortSignal.timeout(this.timeoutMs);
    mutatedOptions.signal = mergeSignals(timeoutSignal, mutatedOptions.signal);
    const targetUrl = new URL(`${this.apiUrl}${path}`);
    if (mutatedOptions.params) {
      for (const [key, value] of Object.entries(mutatedOptions.params)) {
        if (value == null) continue;
        const strValue = typeof value === "string" || typeof value === "number" ? value.toString() : JSON.stringify(value);
        targetUrl.searchParams.append(key, strValue);
      }
      delete mutatedOptions.params;
    }
    return [targetUrl, mutatedOptions];
  }
  async fetch(path, options) {
    const [url, init] = this.prepareFetchOptions(path, options);
    if ((options == null ? void 0 : options.dedupe) === true && (options == null ? void 0 : options.withResponse) !== true && (options == null ? void 0 : options.signal) == null && this.onRequest == null) {
      const body2 = typeof init.body === "string" ? init.body : "";
      const headers = serializeHeaders(init.headers);
      const key = `${init.method ?? "GET"} ${url.toString()} ${body2} ${headers}`;
      const existing = inFlightReads.get(key);
      if (existing != null) return existing;
      const promise = __privateMethod(this, _BaseClient_instances, performFetch_fn).call(this, url, init);
      inFlightReads.set(key, promise);
      const clear = () => {
        if (inFlightReads.get(key) === promise) inFlightReads.delete(key);
      };
      promise.then(clear, clear);
      return promise;
    }
    const [body, response] = await __privateMethod(this, _BaseClient_instances, performFetchWithResponse_fn).call(this, url, init);
    if (options == null ? void 0 : options.withResponse) return [body, response];
    return body;
  }
  async *streamWithRetry(config) {
    const makeRequest = async (reconnectParams) => {
      const requestEndpoint = (reconnectParams == null ? void 0 : reconnectParams.reconnectPath) || config.endpoint;
      const isReconnect = !!(reconnectParams == null ? void 0 : reconnectParams.reconnectPath);
      const method = isReconnect ? "GET" : config.method || "GET";
      const requestHeaders = isReconnect && (reconnectParams == null ? void 0 : reconnectParams.lastEventId) ? {
        ...config.headers,
        "Last-Event-ID": reconnectParams.lastEventId
      } : config.headers;
      let [url, init] = this.prepareFetchOptions(requestEndpoint, {
        method,
        timeoutMs: null,
        signal: config.signal,
        headers: requestHeaders,
        params: config.params,
        json: isReconnect ? void 0 : config.json
      });
      if (this.onRequest != null) init = await this.onRequest(url, init);
      const response = await this.asyncCaller.fetch(url.toString(), init);
      if (!response.body) throw new Error("Expected response body from stream endpoint");
      if (!isReconnect && config.onInitialResponse) await config.onInitialResponse(response);
      const idleMode = config.idleReconnect ?? "auto";
      const enableIdle = idleMode === "auto" || idleMode > 0;
      const lines = response.body.pipeThrough(BytesLineDecoder());
      return {
        response,
        stream: (enableIdle ? lines.pipeThrough(idleReconnectStream({ mode: idleMode })) : lines).pipeThrough(SSEDecoder())
      };
    };
    yield* streamWithRetry(makeRequest, {
      maxRetries: config.maxRetries ?? 5,
      signal: config.signal,
      onReconnect: config.onReconnect
    });
  }
}, _BaseClient_instances = new WeakSet(), performFetch_fn = async function(url, init) {
  const [body] = await __privateMethod(this, _BaseClient_instances, performFetchWithResponse_fn).call(this, url, init);
  return body;
}, performFetchWithResponse_fn = async function(url, init) {
  let finalInit = init;
  if (this.onRequest) finalInit = await this.onRequest(url, init);
  const response = await this.asyncCaller.fetch(url.toString(), finalInit);
  return [await (async () => {
    if (response.status === 202 || response.status === 204) return;
    return response.json();
  })(), response];
}, _a3);
var REGEX_RUN_METADATA = /(\/threads\/(?<thread_id>.+))?\/runs\/(?<run_id>.+)/;
function getRunMetadataFromResponse(response) {
  var _a17;
  const contentLocation = response.headers.get("Content-Location");
  if (!contentLocation) return void 0;
  const match = REGEX_RUN_METADATA.exec(contentLocation);
  if (!((_a17 = match == null ? void 0 : match.groups) == null ? void 0 : _a17.run_id)) return void 0;
  return {
    run_id: match.groups.run_id,
    thread_id: match.groups.thread_id || void 0
  };
}
var inFlightReads = /* @__PURE__ */ new Map();
function serializeHeaders(headers) {
  const normalized = mergeHeaders(headers);
  return Object.keys(normalized).sort().map((name) => `${name}:${normalized[name]}`).join("\n");
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/constants.js
var NAMESPACE_SEPARATOR = "\0";
var DEFAULT_MESSAGES_KEY = "messages";

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/error.js
var ProtocolError = class extends Error {
  constructor(response) {
    super(response.message);
    __publicField(this, "code");
    __publicField(this, "response");
    this.name = "ProtocolError";
    this.code = response.error;
    this.response = response;
  }
};
var MaxWebSocketReconnectAttemptsError = class extends Error {
  constructor(maxAttempts, cause) {
    super(`Exceeded maximum WebSocket reconnection attempts (${maxAttempts})`);
    /** The configured `maxReconnectAttempts` value that was exceeded. */
    __publicField(this, "maxAttempts");
    this.name = "MaxWebSocketReconnectAttemptsError";
    this.maxAttempts = maxAttempts;
    this.cause = cause;
  }
};

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/headless-tools.js
function parseHeadlessToolInterruptPayload(value) {
  if (typeof value !== "object" || value == null) return null;
  const v = value;
  if (v.type !== "tool") return null;
  const rawTc = v.toolCall ?? v.tool_call;
  if (typeof rawTc !== "object" || rawTc == null) return null;
  const tc = rawTc;
  if (typeof tc.name !== "string") return null;
  return {
    type: "tool",
    toolCall: {
      id: typeof tc.id === "string" ? tc.id : void 0,
      name: tc.name,
      args: tc.args
    }
  };
}
function filterOutHeadlessToolInterrupts(interrupts) {
  return interrupts.filter((interrupt) => interrupt.value == null || !isHeadlessToolInterrupt(interrupt.value));
}
function isHeadlessToolInterrupt(interrupt) {
  return parseHeadlessToolInterruptPayload(interrupt) != null;
}
function findHeadlessTool(tools, name) {
  return tools.find((tool) => tool.tool.name === name);
}
async function executeHeadlessTool(implementation, args, onTool) {
  const startTime = Date.now();
  onTool == null ? void 0 : onTool({
    phase: "start",
    name: implementation.tool.name,
    args
  });
  try {
    const result = await implementation.execute(args);
    const duration = Date.now() - startTime;
    onTool == null ? void 0 : onTool({
      phase: "success",
      name: implementation.tool.name,
      args,
      result,
      duration
    });
    return {
      success: true,
      result
    };
  } catch (err) {
    const error = err instanceof Error ? err : new Error(String(err));
    const duration = Date.now() - startTime;
    onTool == null ? void 0 : onTool({
      phase: "error",
      name: implementation.tool.name,
      args,
      error,
      duration
    });
    return {
      success: false,
      error
    };
  }
}
async function handleHeadlessToolInterrupt(interrupt, tools, onTool) {
  const { toolCall } = interrupt;
  const implementation = findHeadlessTool(tools, toolCall.name);
  if (!implementation) {
    const error = new Error(`Headless tool "${toolCall.name}" is not registered. Available tools: ${tools.map((tool) => tool.tool.name).join(", ") || "none"}`);
    onTool == null ? void 0 : onTool({
      phase: "error",
      name: toolCall.name,
      args: toolCall.args,
      error,
      duration: 0
    });
    return {
      toolCallId: toolCall.id,
      value: { error: error.message }
    };
  }
  const result = await executeHeadlessTool(implementation, toolCall.args, onTool);
  if (result.success) return {
    toolCallId: toolCall.id,
    value: result.result
  };
  return {
    toolCallId: toolCall.id,
    value: { error: result.error.message }
  };
}
function headlessToolResumeCommand(result) {
  return {
    resume: result.toolCallId ? { [result.toolCallId]: result.value } : result.value,
    keyedByInterruptId: false
  };
}
function headlessToolsBatchResumeCommand(entries) {
  if (entries.length === 0) return {
    resume: {},
    keyedByInterruptId: false
  };
  if (!entries.every((entry) => entry.interruptId.length > 0) && entries.length === 1) {
    const [entry] = entries;
    return headlessToolResumeCommand({
      toolCallId: entry.toolCallId,
      value: entry.value
    });
  }
  const resume = {};
  for (const entry of entries) {
    if (entry.interruptId.length === 0) continue;
    resume[entry.interruptId] = entry.toolCallId != null && entry.toolCallId.length > 0 ? { [entry.toolCallId]: entry.value } : entry.value;
  }
  return {
    resume,
    keyedByInterruptId: true
  };
}
function applyHeadlessToolResumeCommand(controller, command) {
  const { resume, keyedByInterruptId } = command;
  if (resume == null) return Promise.resolve();
  if (keyedByInterruptId === true || keyedByInterruptId !== false && isInterruptIdKeyedResume(resume)) return controller.respondAll(resume);
  return controller.respond(resume);
}
function isInterruptIdKeyedResume(resume, interrupts) {
  if (resume == null || typeof resume !== "object" || Array.isArray(resume)) return false;
  const record = resume;
  const keys = Object.keys(record);
  if (keys.length === 0) return false;
  if (keys.length > 1) return true;
  const [key] = keys;
  if (interrupts == null ? void 0 : interrupts.length) {
    if (new Set(interrupts.map((entry) => entry.interruptId)).has(key)) return true;
  }
  return /^[0-9a-f]{32}$/i.test(key);
}
function extractHeadlessToolCallIdFromResumeCommand(resume) {
  if (resume == null || typeof resume !== "object" || Array.isArray(resume)) return;
  const keys = Object.keys(resume);
  if (keys.length !== 1) return void 0;
  return keys[0];
}
function resolveInterruptTargetForHeadlessResume(resume, interrupts, resolvedInterruptIds) {
  var _a17;
  const toolCallId = extractHeadlessToolCallIdFromResumeCommand(resume);
  if (toolCallId != null) for (let i = interrupts.length - 1; i >= 0; i -= 1) {
    const entry = interrupts[i];
    if (entry == null || resolvedInterruptIds.has(entry.interruptId)) continue;
    if (((_a17 = parseHeadlessToolInterruptPayload(entry.payload)) == null ? void 0 : _a17.toolCall.id) === toolCallId) return {
      interruptId: entry.interruptId,
      namespace: [...entry.namespace]
    };
  }
  for (let i = interrupts.length - 1; i >= 0; i -= 1) {
    const entry = interrupts[i];
    if (entry == null || resolvedInterruptIds.has(entry.interruptId)) continue;
    return {
      interruptId: entry.interruptId,
      namespace: [...entry.namespace]
    };
  }
  return null;
}
function flushPendingHeadlessToolInterrupts(values, tools, handledIds, options) {
  if (!(tools == null ? void 0 : tools.length) || !values) return;
  const interrupts = values.__interrupt__;
  if (!Array.isArray(interrupts) || interrupts.length === 0) return;
  const defer = options.defer ?? ((run) => run());
  const pending = [];
  const seenToolCallIds = /* @__PURE__ */ new Set();
  for (const interrupt of interrupts) {
    const headlessInterrupt = parseHeadlessToolInterruptPayload(interrupt.value);
    if (!headlessInterrupt) continue;
    const interruptId = interrupt.id ?? headlessInterrupt.toolCall.id ?? "";
    const toolCallId = headlessInterrupt.toolCall.id ?? "";
    if (handledIds.has(interruptId)) continue;
    if (toolCallId && handledIds.has(toolCallId)) continue;
    if (toolCallId && seenToolCallIds.has(toolCallId)) continue;
    if (toolCallId) seenToolCallIds.add(toolCallId);
    handledIds.add(interruptId);
    if (toolCallId) handledIds.add(toolCallId);
    pending.push({
      interruptId,
      headlessInterrupt,
      toolCallId
    });
  }
  if (pending.length === 0) return;
  defer(() => {
    (async () => {
      const results = await Promise.all(pending.map(async ({ interruptId, headlessInterrupt, toolCallId }) => {
        const result = await handleHeadlessToolInterrupt(headlessInterrupt, tools, options.onTool);
        return {
          interruptId,
          toolCallId: result.toolCallId ?? toolCallId,
          value: result.value
        };
      }));
      await Promise.resolve(options.resumeSubmit(headlessToolsBatchResumeCommand(results)));
    })();
  });
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/subscription.js
function normalizeSegment(segment) {
  const idx = segment.indexOf(":");
  return idx === -1 ? segment : segment.slice(0, idx);
}
function isPrefixMatch(eventNamespace, prefix) {
  if (prefix.length > eventNamespace.length) return false;
  for (let i = 0; i < prefix.length; i += 1) {
    const segment = prefix[i];
    const candidate = eventNamespace[i];
    if (candidate === segment) continue;
    if (segment.includes(":")) return false;
    if (normalizeSegment(candidate) === segment) continue;
    return false;
  }
  return true;
}
function namespaceMatches(eventNamespace, prefixes, depth) {
  if (!prefixes || prefixes.length === 0) return true;
  return prefixes.some((prefix) => {
    if (!isPrefixMatch(eventNamespace, prefix)) return false;
    if (depth === void 0) return true;
    return eventNamespace.length - prefix.length <= depth;
  });
}
function inferChannel(event) {
  switch (event.method) {
    case "values":
      return "values";
    case "checkpoints":
      return "checkpoints";
    case "updates":
      return "updates";
    case "messages":
      return "messages";
    case "tools":
      return "tools";
    case "custom": {
      const data = event.params.data;
      return (data == null ? void 0 : data.name) != null ? `custom:${data.name}` : "custom";
    }
    case "lifecycle":
      return "lifecycle";
    case "input.requested":
      return "input";
    case "tasks":
      return "tasks";
    default:
      return;
  }
}
function matchesSubscription(event, definition) {
  const channel = inferChannel(event);
  if (channel === void 0) return false;
  const channels = definition.channels;
  if (!(channels.includes(channel) || channel.startsWith("custom:") && channels.includes("custom"))) return false;
  return namespaceMatches(event.params.namespace, definition.namespaces, definition.depth);
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/message-coercion.js
function tryCoerceMessageLikeToMessage(message) {
  const normalized = normalizeAIMessageToolCalls(message);
  if (normalized.type === "human" || normalized.type === "user") return new HumanMessage(normalized);
  if (normalized.type === "ai" || normalized.type === "assistant") return new AIMessage(normalized);
  if (normalized.type === "system") return new SystemMessage(normalized);
  if (normalized.type === "tool" && "tool_call_id" in normalized) return new ToolMessage({
    ...normalized,
    tool_call_id: normalized.tool_call_id
  });
  if (normalized.type === "remove" && normalized.id != null) return new RemoveMessage({
    ...normalized,
    id: normalized.id
  });
  return coerceMessageLikeToMessage(normalized);
}
function ensureMessageInstances(messages) {
  return messages.map((msg) => {
    if (typeof msg.getType === "function") return msg;
    return tryCoerceMessageLikeToMessage(msg);
  });
}
function normalizeSerializedContentBlocks(message) {
  const record = message;
  const contentBlocks = record.contentBlocks ?? record.content_blocks;
  if (!Array.isArray(contentBlocks) || contentBlocks.length === 0) return message;
  const shouldPreferContentBlocks = isEmptyContent(record.content) || !hasTextContent(record.content) && hasTextContent(contentBlocks);
  if (!shouldPreferContentBlocks && record.contentBlocks === contentBlocks) return message;
  return {
    ...message,
    content: shouldPreferContentBlocks ? contentBlocks : record.content,
    contentBlocks
  };
}
function normalizeAIMessageToolCalls(message) {
  const normalized = normalizeSerializedContentBlocks(message);
  const record = normalized;
  if (Array.isArray(record.tool_calls) && record.tool_calls.length > 0) return normalized;
  const toolCalls = extractToolCallsFromContent(record.content);
  if (toolCalls.length === 0) return normalized;
  return {
    ...normalized,
    tool_calls: toolCalls
  };
}
function extractToolCallsFromContent(content) {
  if (!Array.isArray(content)) return [];
  return content.flatMap((block) => {
    if (block == null || typeof block !== "object") return [];
    const record = block;
    if (record.type !== "tool_call" && record.type !== "tool_use") return [];
    return [{
      id: record.id ?? "",
      name: record.name ?? "",
      args: normalizeToolCallArgs(record.args ?? record.input),
      type: "tool_call"
    }];
  });
}
function normalizeToolCallArgs(value) {
  if (value != null && typeof value === "object" && !Array.isArray(value)) return value;
  if (typeof value === "string" && value.length > 0) try {
    const parsed = JSON.parse(value);
    if (parsed != null && typeof parsed === "object" && !Array.isArray(parsed)) return parsed;
  } catch {
  }
  return {};
}
function isEmptyContent(content) {
  return content == null || content === "" || Array.isArray(content) && content.length === 0;
}
function hasTextContent(content) {
  if (typeof content === "string") return content.length > 0;
  if (!Array.isArray(content)) return false;
  return content.some((block) => {
    if (typeof block === "string") return block.length > 0;
    if (block == null || typeof block !== "object") return false;
    const record = block;
    return record.type === "text" && typeof record.text === "string" && record.text.length > 0;
  });
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/ui/messages.js
var toMessageDict = (chunk) => {
  const { type, data } = chunk.toDict();
  return {
    ...data,
    type
  };
};
function ensureMessageInstances2(messages) {
  return messages.map((msg) => {
    if (typeof msg.getType === "function") return msg;
    return tryCoerceMessageLikeToMessage(msg);
  });
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/index.js
var MESSAGE_LIKE_TYPES = /* @__PURE__ */ new Set([
  "human",
  "user",
  "ai",
  "assistant",
  "tool",
  "system",
  "function",
  "remove"
]);
function coerceStateMessages(value) {
  if (value == null || typeof value !== "object" || Array.isArray(value)) return value;
  const state = value;
  const messages = state.messages;
  if (!Array.isArray(messages) || messages.length === 0) return value;
  if (!messages.some((msg) => {
    if (msg == null || typeof msg !== "object") return false;
    if (typeof msg.getType === "function") return false;
    const type = msg.type;
    return typeof type === "string" && MESSAGE_LIKE_TYPES.has(type);
  })) return value;
  return {
    ...state,
    messages: ensureMessageInstances2(messages)
  };
}
function namespaceKey(ns) {
  return ns.join("\0");
}
function maxSeq(current, next) {
  if (next == null) return current;
  if (current == null) return next;
  return Math.max(current, next);
}
var ROOT_TERMINAL_LIFECYCLE_EVENTS = /* @__PURE__ */ new Set([
  "completed",
  "failed",
  "interrupted"
]);
function isRootTerminalLifecycle(event) {
  if (event.method !== "lifecycle") return false;
  if (event.params.namespace.length !== 0) return false;
  const data = event.params.data;
  return (data == null ? void 0 : data.event) != null && ROOT_TERMINAL_LIFECYCLE_EVENTS.has(data.event);
}
function namespaceListsEqual(a, b) {
  if (a === b) return true;
  if (a === void 0 || b === void 0) return false;
  if (a.length !== b.length) return false;
  const aKeys = /* @__PURE__ */ new Set();
  for (const ns of a) aKeys.add(namespaceKey(ns));
  for (const ns of b) if (!aKeys.has(namespaceKey(ns))) return false;
  return true;
}
function filterEqual(a, b) {
  if (a === b) return true;
  if (a == null || b == null) return false;
  if (a.channels.length !== b.channels.length) return false;
  const aChannels = new Set(a.channels);
  for (const ch of b.channels) if (!aChannels.has(ch)) return false;
  if (!namespaceListsEqual(a.namespaces, b.namespaces)) return false;
  if ((a.depth ?? null) !== (b.depth ?? null)) return false;
  return true;
}
function isPrefix(prefix, candidate) {
  if (prefix.length > candidate.length) return false;
  for (let i = 0; i < prefix.length; i += 1) if (prefix[i] !== candidate[i]) return false;
  return true;
}
function filterCovers(coverer, target) {
  const covererChannels = new Set(coverer.channels);
  for (const ch of target.channels) if (!covererChannels.has(ch)) return false;
  const covererDepth = coverer.depth;
  const targetDepth = target.depth;
  if (coverer.namespaces == null) {
    if (covererDepth == null) return true;
    if (targetDepth == null) return false;
    return targetDepth <= covererDepth;
  }
  if (target.namespaces == null) return false;
  for (const tp of target.namespaces) if (!coverer.namespaces.some((cp) => {
    if (!isPrefix(cp, tp)) return false;
    if (covererDepth == null) return true;
    if (targetDepth == null) return false;
    return tp.length - cp.length + targetDepth <= covererDepth;
  })) return false;
  return true;
}
function normalizeSubscribeParams(paramsOrChannels, options = {}) {
  if (typeof paramsOrChannels === "object" && !Array.isArray(paramsOrChannels) && "channels" in paramsOrChannels) return paramsOrChannels;
  const channels = Array.isArray(paramsOrChannels) ? [...paramsOrChannels] : [paramsOrChannels];
  return {
    ...options,
    channels
  };
}
function foldForkFromIntoConfig(params) {
  const { forkFrom, ...rest } = params;
  if (typeof forkFrom !== "string" || forkFrom.length === 0) return rest;
  const config = rest.config != null && typeof rest.config === "object" ? rest.config : {};
  const configurable = config.configurable != null && typeof config.configurable === "object" ? config.configurable : {};
  return {
    ...rest,
    config: {
      ...config,
      configurable: {
        ...configurable,
        checkpoint_id: forkFrom
      }
    }
  };
}
var SubscriptionHandle = class {
  constructor(subscriptionId, params, onUnsubscribe, transform) {
    __publicField(this, "subscriptionId");
    __publicField(this, "params");
    __publicField(this, "queue", []);
    __publicField(this, "waiters", []);
    __publicField(this, "closed", false);
    __publicField(this, "paused", false);
    __publicField(this, "resumeResolve");
    __publicField(this, "onUnsubscribe");
    __publicField(this, "transform");
    this.subscriptionId = subscriptionId;
    this.params = params;
    this.onUnsubscribe = onUnsubscribe;
    this.transform = transform ?? ((event) => event);
  }
  push(event) {
    if (this.closed) return;
    const value = this.transform(event);
    const waiter = this.waiters.shift();
    if (waiter) {
      waiter({
        done: false,
        value
      });
      return;
    }
    this.queue.push(value);
  }
  /**
  * Pause the subscription: resolve all waiting iterators with `done: true`
  * so `for await` loops exit, but keep the subscription alive. New events
  * arriving while paused are still buffered. Call `resume()` to allow
  * iterators to consume again.
  */
  pause() {
    var _a17;
    if (this.closed) return;
    this.paused = true;
    while (this.waiters.length > 0) (_a17 = this.waiters.shift()) == null ? void 0 : _a17({
      done: true,
      value: void 0
    });
  }
  /**
  * Resume a paused subscription so new `for await` loops can consume
  * buffered and future events.
  */
  resume() {
    var _a17;
    this.paused = false;
    (_a17 = this.resumeResolve) == null ? void 0 : _a17.call(this);
    this.resumeResolve = void 0;
  }
  /**
  * Returns a promise that resolves when `resume()` is called. Resolves
  * immediately if not currently paused.
  */
  waitForResume() {
    if (!this.paused) return Promise.resolve();
    return new Promise((resolve) => {
      this.resumeResolve = resolve;
    });
  }
  get isPaused() {
    return this.paused;
  }
  close() {
    var _a17, _b;
    this.closed = true;
    this.paused = false;
    while (this.waiters.length > 0) (_a17 = this.waiters.shift()) == null ? void 0 : _a17({
      done: true,
      value: void 0
    });
    (_b = this.resumeResolve) == null ? void 0 : _b.call(this);
    this.resumeResolve = void 0;
  }
  async unsubscribe() {
    if (this.closed) return;
    this.close();
    await this.onUnsubscribe(this.subscriptionId);
  }
  [Symbol.asyncIterator]() {
    return {
      next: async () => {
        if (this.queue.length > 0) return {
          done: false,
          value: this.queue.shift()
        };
        if (this.closed || this.paused) return {
          done: true,
          value: void 0
        };
        return await new Promise((resolve) => {
          this.waiters.push(resolve);
        });
      },
      return: async () => {
        this.close();
        return {
          done: true,
          value: void 0
        };
      }
    };
  }
};
var _nextCommandId, _transportAdapter, _pending2, _subscriptions, _seenEventIds, _headlessInterruptsAwaitingTerminal, _closed, _opened, _openPromise, _sharedStream, _sharedStreamFilter, _rotationState, _pendingSubResolves, _terminalPauseTimer, _terminalPauseSeq, _lifecycleSubId, _lifecycleStartPromise, _runStartReady, _lifecycleWatcherHandle, _lifecycleWatcherStartPromise, _onEventListeners, _onErrorListeners, _messagesIterable, _valuesProjection, _toolCallsIterable, _subgraphsIterable, _subagentsIterable, _outputPromise, _extensionsProxy, _extensionsCache, _extensionsDispatcherStarted, _extensionsEnded, _extensionsEvents, _extensionsEventListeners, _extensionsEndListeners, _mediaDispatcherStarted, _mediaAssembler, _mediaHandles, _audioBuffer, _imagesBuffer, _videoBuffer, _filesBuffer, _fetchOption, _ThreadStream_instances, ensureOpen_fn, lifecycleChannels_fn, ensureLifecycleTracking_fn, withRunStartGate_fn, prepareForNextRun_fn, ensureExtensionsDispatcher_fn, ensureMediaDispatcher_fn, createExtension_fn, startProjection_fn, startLifecycleWatcher_fn, startLifecycleWatcherSse_fn, startLifecycleWatcherWebSocket_fn, handleLifecycleWatcherMessage_fn, applyThreadLevelEffects_fn, fireOnEvent_fn, fireOnError_fn, subscribeRaw_fn, subscribeViaSharedStream_fn, computeUnionFilter_fn, scheduleReconcile_fn, reconcileStream_fn, pumpStream_fn, resolvePending_fn, rejectUncoveredPending_fn, failThreadWithError_fn, subscribeViaCommand_fn, resubscribeWebSocketSubscriptions_fn, consumeEvents_fn, scheduleTerminalPause_fn, handleIncoming_fn, send_fn, _a4;
var ThreadStream = (_a4 = class {
  constructor(transportAdapter, options) {
    __privateAdd(this, _ThreadStream_instances);
    __publicField(this, "threadId");
    __publicField(this, "ordering", {});
    __publicField(this, "run");
    __publicField(this, "agent");
    __publicField(this, "input");
    __publicField(this, "state");
    /**
    * Whether the run was interrupted (a lifecycle "interrupted" event
    * was received). Mirrors the in-process `run.interrupted`.
    */
    __publicField(this, "interrupted", false);
    /**
    * Interrupt payloads collected during the run, if any.
    * Mirrors the in-process `run.interrupts`.
    */
    __publicField(this, "interrupts", []);
    __publicField(this, "assistantId");
    __privateAdd(this, _nextCommandId);
    __privateAdd(this, _transportAdapter);
    __privateAdd(this, _pending2, /* @__PURE__ */ new Map());
    __privateAdd(this, _subscriptions, /* @__PURE__ */ new Map());
    __privateAdd(this, _seenEventIds, /* @__PURE__ */ new Set());
    /**
    * Headless tool interrupts can be auto-resumed by the React hook before
    * the shared SSE content pump has processed the root `interrupted`
    * lifecycle event. `respondInput()` clears `interrupts`, so keep a
    * short-lived marker here until that stale terminal passes through the
    * content pump and we can avoid pausing it.
    */
    __privateAdd(this, _headlessInterruptsAwaitingTerminal, /* @__PURE__ */ new Set());
    __privateAdd(this, _closed, false);
    __privateAdd(this, _opened, false);
    __privateAdd(this, _openPromise);
    __privateAdd(this, _sharedStream, null);
    __privateAdd(this, _sharedStreamFilter, null);
    __privateAdd(this, _rotationState, "idle");
    /** Pending `subscribe()` promises waiting for a covering rotation. */
    __privateAdd(this, _pendingSubResolves, []);
    __privateAdd(this, _terminalPauseTimer);
    __privateAdd(this, _terminalPauseSeq);
    __privateAdd(this, _lifecycleSubId, null);
    __privateAdd(this, _lifecycleStartPromise);
    __privateAdd(this, _runStartReady, null);
    __privateAdd(this, _lifecycleWatcherHandle, null);
    __privateAdd(this, _lifecycleWatcherStartPromise);
    __privateAdd(this, _onEventListeners, /* @__PURE__ */ new Set());
    __privateAdd(this, _onErrorListeners, /* @__PURE__ */ new Set());
    __privateAdd(this, _messagesIterable);
    __privateAdd(this, _valuesProjection);
    __privateAdd(this, _toolCallsIterable);
    __privateAdd(this, _subgraphsIterable);
    __privateAdd(this, _subagentsIterable);
    __privateAdd(this, _outputPromise);
    __privateAdd(this, _extensionsProxy);
    __privateAdd(this, _extensionsCache, /* @__PURE__ */ new Map());
    /**
    * Shared state for the single `"custom"` channel subscription that
    * backs every `thread.extensions.<name>` handle.
    *
    * One subscription is opened eagerly from {@link run.start} (mirroring
    * the {@link values} eager-start pattern) so that per-name handles
    * created before, during, or after the run can all resolve correctly.
    *
    *  - `events` retains every custom event for backfill into
    *    late-constructed handles.
    *  - `eventListeners` fan new events out to live per-name handlers.
    *  - `endListeners` fire when the dispatcher's run terminates, so each
    *    handle can resolve its `PromiseLike` side with its last-seen
    *    payload.
    */
    __privateAdd(this, _extensionsDispatcherStarted, false);
    __privateAdd(this, _extensionsEnded, false);
    __privateAdd(this, _extensionsEvents, []);
    __privateAdd(this, _extensionsEventListeners, []);
    __privateAdd(this, _extensionsEndListeners, []);
    /**
    * Shared state for the single `messages`-channel subscription that
    * backs every media handle iterable (`thread.audio`, `thread.images`,
    * `thread.video`, `thread.files`). One subscription serves all four
    * iterables; per-type buffers track the handles already emitted so
    * late attachers replay through {@link MultiCursorBuffer}.
    */
    __privateAdd(this, _mediaDispatcherStarted, false);
    __privateAdd(this, _mediaAssembler);
    /** Object URLs minted by media handles, tracked for {@link close} cleanup. */
    __privateAdd(this, _mediaHandles, /* @__PURE__ */ new Set());
    __privateAdd(this, _audioBuffer, new MultiCursorBuffer());
    __privateAdd(this, _imagesBuffer, new MultiCursorBuffer());
    __privateAdd(this, _videoBuffer, new MultiCursorBuffer());
    __privateAdd(this, _filesBuffer, new MultiCursorBuffer());
    __privateAdd(this, _fetchOption);
    var _a17, _b;
    if (!(options == null ? void 0 : options.assistantId)) throw new Error("ThreadStream requires an assistantId option.");
    __privateSet(this, _transportAdapter, transportAdapter);
    this.threadId = transportAdapter.threadId;
    this.assistantId = options.assistantId;
    __privateSet(this, _nextCommandId, options.startingCommandId ?? 1);
    __privateSet(this, _fetchOption, options.fetch);
    this.run = { start: async (params) => {
      __privateMethod(this, _ThreadStream_instances, prepareForNextRun_fn).call(this);
      return await __privateMethod(this, _ThreadStream_instances, withRunStartGate_fn).call(this, () => {
        __privateMethod(this, _ThreadStream_instances, ensureLifecycleTracking_fn).call(this);
        this.values;
        return __privateMethod(this, _ThreadStream_instances, send_fn).call(this, "run.start", {
          ...foldForkFromIntoConfig(params),
          assistant_id: this.assistantId
        });
      });
    } };
    this.agent = { getTree: async (params = {}) => await __privateMethod(this, _ThreadStream_instances, send_fn).call(this, "agent.getTree", params) };
    this.input = {
      respond: async (params) => {
        __privateMethod(this, _ThreadStream_instances, prepareForNextRun_fn).call(this);
        __privateMethod(this, _ThreadStream_instances, ensureLifecycleTracking_fn).call(this);
        this.values;
        await __privateMethod(this, _ThreadStream_instances, send_fn).call(this, "input.respond", params);
      },
      inject: async (params) => {
        await __privateMethod(this, _ThreadStream_instances, send_fn).call(this, "input.inject", params);
      }
    };
    this.state = {
      get: async (params) => await __privateMethod(this, _ThreadStream_instances, send_fn).call(this, "state.get", params),
      listCheckpoints: async (params) => await __privateMethod(this, _ThreadStream_instances, send_fn).call(this, "state.listCheckpoints", params),
      fork: async (params) => await __privateMethod(this, _ThreadStream_instances, send_fn).call(this, "state.fork", params)
    };
    if (__privateGet(this, _transportAdapter).openEventStream == null) {
      (_b = (_a17 = __privateGet(this, _transportAdapter)).setOnReconnected) == null ? void 0 : _b.call(_a17, () => __privateMethod(this, _ThreadStream_instances, resubscribeWebSocketSubscriptions_fn).call(this));
      __privateMethod(this, _ThreadStream_instances, consumeEvents_fn).call(this);
    }
  }
  /**
  * Streaming messages. Each `for await` loop gets an independent cursor
  * over the shared buffer; late consumers see all previously emitted
  * messages.  Mirrors the in-process `run.messages`.
  */
  get messages() {
    if (__privateGet(this, _messagesIterable)) return __privateGet(this, _messagesIterable);
    const buffer = new MultiCursorBuffer();
    __privateSet(this, _messagesIterable, buffer);
    const assembler = new StreamingMessageAssembler();
    __privateMethod(this, _ThreadStream_instances, startProjection_fn).call(this, ["messages", ...__privateMethod(this, _ThreadStream_instances, lifecycleChannels_fn).call(this)], (event) => {
      if (event.method !== "messages") return;
      const msg = assembler.consume(event);
      if (msg) buffer.push(toStreamingMessageHandle(msg));
    }, () => buffer.close());
    return buffer;
  }
  /**
  * State values. Iterable for intermediate snapshots; also
  * `PromiseLike` — `await thread.values` resolves with the final
  * state.  Mirrors the in-process `run.values`.
  */
  get values() {
    if (__privateGet(this, _valuesProjection)) return __privateGet(this, _valuesProjection);
    const buffer = new MultiCursorBuffer();
    let lastValue;
    let resolveOutput;
    const outputPromise = new Promise((resolve) => {
      resolveOutput = resolve;
    });
    __privateSet(this, _outputPromise, outputPromise);
    const projection = Object.assign(buffer, { then: (onfulfilled, onrejected) => outputPromise.then(onfulfilled, onrejected) });
    __privateSet(this, _valuesProjection, projection);
    __privateMethod(this, _ThreadStream_instances, startProjection_fn).call(this, ["values", ...__privateMethod(this, _ThreadStream_instances, lifecycleChannels_fn).call(this)], (event) => {
      if (event.method !== "values") return;
      const data = coerceStateMessages(event.params.data);
      lastValue = data;
      buffer.push(data);
    }, () => {
      resolveOutput(lastValue);
      buffer.close();
    });
    return projection;
  }
  /**
  * Tool calls with a promise-based {@link output} for script consumers.
  * Mirrors the in-process `run.toolCalls`.
  */
  get toolCalls() {
    if (__privateGet(this, _toolCallsIterable)) return __privateGet(this, _toolCallsIterable);
    const buffer = new MultiCursorBuffer();
    __privateSet(this, _toolCallsIterable, buffer);
    const assembler = new ToolCallAssembler();
    __privateMethod(this, _ThreadStream_instances, startProjection_fn).call(this, ["tools", ...__privateMethod(this, _ThreadStream_instances, lifecycleChannels_fn).call(this)], (event) => {
      if (event.method !== "tools") return;
      const tc = assembler.consume(event);
      if (tc) buffer.push(toClientAssembledToolCall(tc));
    }, () => buffer.close());
    return buffer;
  }
  /**
  * Discovered subgraphs. Mirrors the in-process `run.subgraphs`.
  */
  get subgraphs() {
    if (__privateGet(this, _subgraphsIterable)) return __privateGet(this, _subgraphsIterable);
    const buffer = new MultiCursorBuffer();
    __privateSet(this, _subgraphsIterable, buffer);
    (async () => {
      const discovery = new SubgraphDiscoveryHandle(await __privateMethod(this, _ThreadStream_instances, subscribeRaw_fn).call(this, { channels: ["tools", ...__privateMethod(this, _ThreadStream_instances, lifecycleChannels_fn).call(this)] }), this, []);
      for await (const sub of discovery) buffer.push(sub);
      buffer.close();
    })();
    return buffer;
  }
  /**
  * Discovered subagents.
  */
  get subagents() {
    if (__privateGet(this, _subagentsIterable)) return __privateGet(this, _subagentsIterable);
    const buffer = new MultiCursorBuffer();
    __privateSet(this, _subagentsIterable, buffer);
    (async () => {
      const discovery = new SubagentDiscoveryHandle(await __privateMethod(this, _ThreadStream_instances, subscribeRaw_fn).call(this, { channels: ["tools", ...__privateMethod(this, _ThreadStream_instances, lifecycleChannels_fn).call(this)] }), this);
      for await (const sub of discovery) buffer.push(sub);
      buffer.close();
    })();
    return buffer;
  }
  /**
  * Audio media handles, one per message containing at least one
  * `AudioBlock`. Each `for await` opens an independent cursor over
  * the shared buffer; late consumers replay every previously emitted
  * audio handle.
  *
  * Yields one item per message on the first matching
  * `content-block-start` — messages with no audio blocks are skipped.
  */
  get audio() {
    __privateMethod(this, _ThreadStream_instances, ensureMediaDispatcher_fn).call(this);
    return __privateGet(this, _audioBuffer);
  }
  /**
  * Image media handles, one per message containing at least one
  * `ImageBlock`. See {@link audio} for shared semantics.
  */
  get images() {
    __privateMethod(this, _ThreadStream_instances, ensureMediaDispatcher_fn).call(this);
    return __privateGet(this, _imagesBuffer);
  }
  /**
  * Video media handles, one per message containing at least one
  * `VideoBlock`. See {@link audio} for shared semantics.
  */
  get video() {
    __privateMethod(this, _ThreadStream_instances, ensureMediaDispatcher_fn).call(this);
    return __privateGet(this, _videoBuffer);
  }
  /**
  * File media handles, one per message containing at least one
  * `FileBlock`. See {@link audio} for shared semantics.
  */
  get files() {
    __privateMethod(this, _ThreadStream_instances, ensureMediaDispatcher_fn).call(this);
    return __privateGet(this, _filesBuffer);
  }
  /**
  * Promise that resolves with the final state value when the run
  * completes.  Shares the `values` getter's SSE connection.
  * Mirrors the in-process `run.output`.
  */
  get output() {
    this.values;
    return __privateGet(this, _outputPromise);
  }
  /**
  * Proxy over compile-time {@link StreamTransformer} projections
  * exposed by the bound assistant on `custom:<name>` channels.
  *
  * Each access (e.g. `thread.extensions.toolActivity`) lazily opens a
  * dedicated `custom:<name>` subscription, returns a cached
  * {@link ThreadExtension} handle that is both `AsyncIterable<T>`
  * (streaming items as they arrive) and `PromiseLike<T>` (resolves
  * with the final value when the run terminates), and reuses the same
  * handle on subsequent access.
  *
  * Mirrors the in-process `run.extensions.<name>` shape.
  */
  get extensions() {
    if (__privateGet(this, _extensionsProxy)) return __privateGet(this, _extensionsProxy);
    const cache = __privateGet(this, _extensionsCache);
    const createExtension = (name) => __privateMethod(this, _ThreadStream_instances, createExtension_fn).call(this, name);
    __privateSet(this, _extensionsProxy, new Proxy(/* @__PURE__ */ Object.create(null), {
      get: (_target, prop) => {
        if (typeof prop !== "string") return void 0;
        const cached = cache.get(prop);
        if (cached) return cached;
        const extension = createExtension(prop);
        cache.set(prop, extension);
        return extension;
      },
      has: (_target, prop) => typeof prop === "string"
    }));
    return __privateGet(this, _extensionsProxy);
  }
  /**
  * Start a run without the v1 eager lazy-getter shims.
  *
  * `run.start` (the v1 entry point) eagerly opens a wildcard `values`
  * projection so `thread.output` / `thread.values` resolve regardless
  * of access order, and calls `#ensureLifecycleTracking` which opens
  * another wildcard `["lifecycle", "input"]` subscription. Both
  * subscriptions widen `#computeUnionFilter` to wildcard, defeating
  * the progressive-expansion rotation strategy.
  *
  * `submitRun` skips those shims — callers that manage their own
  * content subscriptions (such as `StreamController`) get the narrow
  * union filter they asked for. Lifecycle / interrupt tracking is
  * instead served by the dedicated `#startLifecycleWatcher`, which
  * opens a wildcard `["lifecycle", "input"]` stream alongside the
  * narrow content pump on both SSE and WebSocket transports.
  */
  async submitRun(params) {
    __privateMethod(this, _ThreadStream_instances, prepareForNextRun_fn).call(this);
    return await __privateMethod(this, _ThreadStream_instances, withRunStartGate_fn).call(this, () => {
      __privateMethod(this, _ThreadStream_instances, startLifecycleWatcher_fn).call(this);
      return __privateMethod(this, _ThreadStream_instances, send_fn).call(this, "run.start", {
        ...foldForkFromIntoConfig(params),
        assistant_id: this.assistantId
      });
    });
  }
  /**
  * Respond to an interrupt without the v1 eager lazy-getter shims.
  * See {@link submitRun} for why this exists alongside
  * {@link input.respond}.
  */
  async respondInput(params) {
    const respondedIds = "responses" in params ? params.responses.map((entry) => entry.interrupt_id) : params.interrupt_id;
    __privateMethod(this, _ThreadStream_instances, prepareForNextRun_fn).call(this, respondedIds);
    __privateMethod(this, _ThreadStream_instances, startLifecycleWatcher_fn).call(this);
    await __privateMethod(this, _ThreadStream_instances, send_fn).call(this, "input.respond", params);
  }
  /**
  * Register a listener for every globally-unique event on the thread.
  *
  * Fires exactly once per `event_id` across both the content pump
  * (user `subscribe()` calls) and the lifecycle watcher. Events
  * without an `event_id` always fire through (dedup is best-effort).
  *
  * Returns an unsubscribe function. Primary consumer is
  * `StreamController`, which uses the listener to feed discovery
  * runners and pick up deeply-nested interrupts that the narrow
  * content pump wouldn't deliver.
  */
  onEvent(listener) {
    __privateGet(this, _onEventListeners).add(listener);
    return () => {
      __privateGet(this, _onEventListeners).delete(listener);
    };
  }
  /**
  * Register a listener for stream-level failures: an unsolicited server
  * error frame, or the transport giving up on reconnecting. Returns an
  * unsubscribe function.
  */
  onError(listener) {
    __privateGet(this, _onErrorListeners).add(listener);
    return () => {
      __privateGet(this, _onErrorListeners).delete(listener);
    };
  }
  /**
  * Public, idempotent entry point to start the wildcard lifecycle
  * watcher.
  *
  * The watcher is normally started lazily by `submitRun` /
  * `respondInput` because for fresh (self-created) threads the SSE
  * stream would 404 if opened before the server has the thread row.
  * Callers that already know the thread exists server-side
  * (`StreamController.hydrate` of an existing thread) can use this
  * to start the watcher up front. The watcher subscribes to wildcard
  * lifecycle events across every namespace, so it sees arbitrarily-
  * nested subagent lifecycle messages that the narrow root content
  * pump (running at `depth: 1`) wouldn't reach — that's what makes
  * subagent discovery work for historical thread loads.
  *
  * Idempotent — repeat calls reuse the in-flight start promise.
  */
  startLifecycleWatcher() {
    __privateMethod(this, _ThreadStream_instances, startLifecycleWatcher_fn).call(this);
  }
  async close() {
    var _a17;
    if (__privateGet(this, _closed)) return;
    __privateSet(this, _closed, true);
    if (__privateGet(this, _terminalPauseTimer) != null) {
      clearTimeout(__privateGet(this, _terminalPauseTimer));
      __privateSet(this, _terminalPauseTimer, void 0);
    }
    __privateSet(this, _terminalPauseSeq, void 0);
    for (const pending of __privateGet(this, _pendingSubResolves)) pending.reject(new Error("ThreadStream closed"));
    __privateGet(this, _pendingSubResolves).length = 0;
    if (__privateGet(this, _sharedStream) != null) {
      try {
        __privateGet(this, _sharedStream).close();
      } catch {
      }
      __privateSet(this, _sharedStream, null);
      __privateSet(this, _sharedStreamFilter, null);
    }
    if (__privateGet(this, _lifecycleWatcherHandle) != null) {
      try {
        __privateGet(this, _lifecycleWatcherHandle).close();
      } catch {
      }
      __privateSet(this, _lifecycleWatcherHandle, null);
    }
    const lifecycleWatcherStartPromise = __privateGet(this, _lifecycleWatcherStartPromise);
    __privateSet(this, _lifecycleWatcherStartPromise, void 0);
    __privateGet(this, _onEventListeners).clear();
    __privateGet(this, _onErrorListeners).clear();
    for (const subscription of __privateGet(this, _subscriptions).values()) subscription.close();
    __privateGet(this, _subscriptions).clear();
    try {
      await lifecycleWatcherStartPromise;
    } catch {
    }
    for (const handle of __privateGet(this, _mediaHandles)) try {
      handle.revoke();
    } catch {
    }
    __privateGet(this, _mediaHandles).clear();
    (_a17 = __privateGet(this, _mediaAssembler)) == null ? void 0 : _a17.close();
    __privateGet(this, _audioBuffer).close();
    __privateGet(this, _imagesBuffer).close();
    __privateGet(this, _videoBuffer).close();
    __privateGet(this, _filesBuffer).close();
    await __privateGet(this, _transportAdapter).close();
  }
  async subscribe(paramsOrChannels, options = {}) {
    const isParamsObject = typeof paramsOrChannels === "object" && !Array.isArray(paramsOrChannels) && "channels" in paramsOrChannels;
    const params = normalizeSubscribeParams(paramsOrChannels, options);
    return await __privateMethod(this, _ThreadStream_instances, subscribeRaw_fn).call(this, params, { unwrapNamedCustom: !isParamsObject });
  }
}, _nextCommandId = new WeakMap(), _transportAdapter = new WeakMap(), _pending2 = new WeakMap(), _subscriptions = new WeakMap(), _seenEventIds = new WeakMap(), _headlessInterruptsAwaitingTerminal = new WeakMap(), _closed = new WeakMap(), _opened = new WeakMap(), _openPromise = new WeakMap(), _sharedStream = new WeakMap(), _sharedStreamFilter = new WeakMap(), _rotationState = new WeakMap(), _pendingSubResolves = new WeakMap(), _terminalPauseTimer = new WeakMap(), _terminalPauseSeq = new WeakMap(), _lifecycleSubId = new WeakMap(), _lifecycleStartPromise = new WeakMap(), _runStartReady = new WeakMap(), _lifecycleWatcherHandle = new WeakMap(), _lifecycleWatcherStartPromise = new WeakMap(), _onEventListeners = new WeakMap(), _onErrorListeners = new WeakMap(), _messagesIterable = new WeakMap(), _valuesProjection = new WeakMap(), _toolCallsIterable = new WeakMap(), _subgraphsIterable = new WeakMap(), _subagentsIterable = new WeakMap(), _outputPromise = new WeakMap(), _extensionsProxy = new WeakMap(), _extensionsCache = new WeakMap(), _extensionsDispatcherStarted = new WeakMap(), _extensionsEnded = new WeakMap(), _extensionsEvents = new WeakMap(), _extensionsEventListeners = new WeakMap(), _extensionsEndListeners = new WeakMap(), _mediaDispatcherStarted = new WeakMap(), _mediaAssembler = new WeakMap(), _mediaHandles = new WeakMap(), _audioBuffer = new WeakMap(), _imagesBuffer = new WeakMap(), _videoBuffer = new WeakMap(), _filesBuffer = new WeakMap(), _fetchOption = new WeakMap(), _ThreadStream_instances = new WeakSet(), ensureOpen_fn = async function() {
  if (__privateGet(this, _opened)) return;
  if (__privateGet(this, _openPromise) == null) __privateSet(this, _openPromise, __privateGet(this, _transportAdapter).open().then(() => {
    __privateSet(this, _opened, true);
  }));
  await __privateGet(this, _openPromise);
}, /**
* Channels bundled into every lazy getter's SSE filter so that
* interrupt tracking works without a separate lifecycle subscription.
*/
lifecycleChannels_fn = function() {
  return ["lifecycle", "input"];
}, /**
* Lazily start a dedicated lifecycle+input subscription so that
* `thread.interrupted` / `thread.interrupts` work even when the
* caller never accesses a lazy getter (e.g. they only call
* `run.start` and `subscribe({ channels: ["custom:..."] })`).
*
* Idempotent and fire-and-forget — invoked from `run.start` and
* `input.respond`.
*/
ensureLifecycleTracking_fn = function() {
  if (__privateGet(this, _lifecycleStartPromise) != null) return;
  __privateSet(this, _lifecycleStartPromise, (async () => {
    __privateSet(this, _lifecycleSubId, (await __privateMethod(this, _ThreadStream_instances, subscribeRaw_fn).call(this, { channels: __privateMethod(this, _ThreadStream_instances, lifecycleChannels_fn).call(this) })).subscriptionId);
  })().catch(() => void 0));
}, withRunStartGate_fn = async function(operation) {
  let resolveGate;
  let rejectGate;
  const gate = new Promise((resolve, reject) => {
    resolveGate = resolve;
    rejectGate = reject;
  });
  __privateSet(this, _runStartReady, gate);
  gate.catch(() => void 0);
  try {
    const result = await operation();
    resolveGate();
    return result;
  } catch (err) {
    rejectGate(err);
    throw err;
  } finally {
    if (__privateGet(this, _runStartReady) === gate) __privateSet(this, _runStartReady, null);
  }
}, /**
* Reset interrupt state and resume all paused user subscriptions.
* Called before `run.start()` and `input.respond()` so that
* iterators on the same handle pick up the next run's events.
*
* @param respondedInterruptId - When responding to one of several
*   pending interrupts, only that entry is removed. Clearing the
*   full list here would drop other headless-tool interrupts that
*   are still awaiting client execution.
*/
prepareForNextRun_fn = function(respondedInterruptId) {
  this.interrupted = false;
  if (respondedInterruptId != null) {
    const respondedIds = new Set(Array.isArray(respondedInterruptId) ? respondedInterruptId : [respondedInterruptId]);
    for (let index = this.interrupts.length - 1; index >= 0; index -= 1) if (respondedIds.has(this.interrupts[index].interruptId)) this.interrupts.splice(index, 1);
  } else this.interrupts.length = 0;
  if (__privateGet(this, _terminalPauseTimer) != null) {
    clearTimeout(__privateGet(this, _terminalPauseTimer));
    __privateSet(this, _terminalPauseTimer, void 0);
  }
  __privateSet(this, _terminalPauseSeq, void 0);
  for (const [id, subscription] of __privateGet(this, _subscriptions)) if (id !== __privateGet(this, _lifecycleSubId)) subscription.resume();
}, /**
* Lazily open one shared subscription on the `custom` channel that
* buffers every custom event for this run and fans it out to any
* per-name extension handles.
*
* Deliberately **lazy**: the dispatcher only starts on first access
* to `thread.extensions.<name>`. Runs that never touch extensions
* pay no subscription cost. Runs that touch extensions after events
* have already fired rely on the server's per-session event buffer,
* which replays matching events to new subscriptions.
*
* Each handle retains a PromiseLike that resolves with the
* transformer's last-observed payload, independent of when the
* caller grabs the handle (before, during, or after the run), as
* long as the server still has the events buffered.
*
* Idempotent. Invoked only from {@link #createExtension}.
*/
ensureExtensionsDispatcher_fn = function() {
  if (__privateGet(this, _extensionsDispatcherStarted)) return;
  __privateSet(this, _extensionsDispatcherStarted, true);
  __privateMethod(this, _ThreadStream_instances, startProjection_fn).call(this, ["custom", ...__privateMethod(this, _ThreadStream_instances, lifecycleChannels_fn).call(this)], (event) => {
    if (event.method !== "custom") return;
    __privateGet(this, _extensionsEvents).push(event);
    for (const listener of __privateGet(this, _extensionsEventListeners)) listener(event);
  }, () => {
    __privateSet(this, _extensionsEnded, true);
    const listeners = __privateGet(this, _extensionsEndListeners).splice(0);
    for (const listener of listeners) listener();
  }, { endOnRootTerminal: true });
}, /**
* Open the single shared `messages`-channel subscription that backs
* every media iterable (audio/images/video/files). Idempotent.
*
* The {@link MediaAssembler} fans out to four per-type
* {@link MultiCursorBuffer}s; each buffer feeds its corresponding
* lazy getter. One handle is yielded per `(messageId, blockType)` on
* the first matching `content-block-start`, so messages without any
* media blocks of a given type never appear on that iterable.
*/
ensureMediaDispatcher_fn = function() {
  if (__privateGet(this, _mediaDispatcherStarted)) return;
  __privateSet(this, _mediaDispatcherStarted, true);
  const assembler = new MediaAssembler({
    fetch: __privateGet(this, _fetchOption),
    onAudio: (m) => {
      __privateGet(this, _mediaHandles).add(m);
      __privateGet(this, _audioBuffer).push(m);
    },
    onImage: (m) => {
      __privateGet(this, _mediaHandles).add(m);
      __privateGet(this, _imagesBuffer).push(m);
    },
    onVideo: (m) => {
      __privateGet(this, _mediaHandles).add(m);
      __privateGet(this, _videoBuffer).push(m);
    },
    onFile: (m) => {
      __privateGet(this, _mediaHandles).add(m);
      __privateGet(this, _filesBuffer).push(m);
    }
  });
  __privateSet(this, _mediaAssembler, assembler);
  __privateMethod(this, _ThreadStream_instances, startProjection_fn).call(this, ["messages", ...__privateMethod(this, _ThreadStream_instances, lifecycleChannels_fn).call(this)], (event) => {
    if (event.method !== "messages") return;
    assembler.consume(event);
  }, () => {
    assembler.close();
    __privateGet(this, _audioBuffer).close();
    __privateGet(this, _imagesBuffer).close();
    __privateGet(this, _videoBuffer).close();
    __privateGet(this, _filesBuffer).close();
  });
}, /**
* Build a single {@link ThreadExtension} handle for a named
* `custom:<name>` projection.
*
* The handle reads from the shared extensions dispatcher: past events
* matching {@link name} are backfilled on construction, future events
* arrive via a registered listener, and the handle's `PromiseLike`
* side resolves with its last-seen payload once the run terminates
* (which may already have happened, in which case it resolves on the
* next microtask).
*/
createExtension_fn = function(name) {
  __privateMethod(this, _ThreadStream_instances, ensureExtensionsDispatcher_fn).call(this);
  const buffer = new MultiCursorBuffer();
  let lastValue;
  let resolveFinal;
  const finalPromise = new Promise((resolve) => {
    resolveFinal = resolve;
  });
  const handleEvent = (event) => {
    const data = event.params.data;
    if ((data == null ? void 0 : data.name) !== name) return;
    lastValue = data.payload;
    buffer.push(data.payload);
  };
  for (const event of __privateGet(this, _extensionsEvents)) handleEvent(event);
  __privateGet(this, _extensionsEventListeners).push(handleEvent);
  const settle = () => {
    resolveFinal(lastValue);
    buffer.close();
  };
  if (__privateGet(this, _extensionsEnded)) settle();
  else __privateGet(this, _extensionsEndListeners).push(settle);
  return Object.assign(buffer, { then: (onfulfilled, onrejected) => finalPromise.then(onfulfilled, onrejected) });
}, startProjection_fn = async function(channels, onEvent, onDone, options = {}) {
  let endTimer;
  let rawHandle;
  try {
    rawHandle = await __privateMethod(this, _ThreadStream_instances, subscribeRaw_fn).call(this, { channels });
    const handle = rawHandle;
    for await (const event of handle) {
      onEvent(event);
      if (options.endOnRootTerminal && endTimer == null && isRootTerminalLifecycle(event)) endTimer = setTimeout(() => {
        endTimer = void 0;
        handle.unsubscribe().catch(() => void 0);
      }, 0);
    }
  } catch {
  } finally {
    if (endTimer != null) clearTimeout(endTimer);
    onDone();
  }
}, /**
* Lazily open the wildcard discovery watcher stream.
*
* Idempotent. Used by both transports, but through different
* mechanisms:
*
*  - **SSE**: opens a dedicated event stream via
*    {@link TransportAdapter.openEventStream}. The stream runs
*    outside `#computeUnionFilter`, so the shared SSE stream's
*    content pump can stay narrow (e.g. `depth: 1`) while we still
*    capture every lifecycle/input event at any depth.
*  - **WebSocket**: opens a wildcard watcher subscription
*    subscription via the normal command path. The WS server
*    delivers matching events on the shared command connection and
*    `#handleIncoming` dispatches them through `#fireOnEvent` and
*    the thread-level effects — same downstream semantics as the
*    SSE watcher, just reusing the transport that's already open.
*
* Why this matters: consumers of {@link onEvent} (notably
* `StreamController`'s subgraph/subagent discovery runners and
* nested interrupt capture) depend on observing namespaced
* lifecycle events at any depth. Without this watcher, WS clients
* would only ever receive events matching the content pump's
* narrow filter (depth 1 from the root), breaking inference rules
* that require deeper descendants (e.g. the "has-descendants"
* signal used to promote a subgraph host).
*/
startLifecycleWatcher_fn = function() {
  if (__privateGet(this, _lifecycleWatcherStartPromise) != null) return;
  if (__privateGet(this, _transportAdapter).openEventStream != null) {
    __privateSet(this, _lifecycleWatcherStartPromise, __privateMethod(this, _ThreadStream_instances, startLifecycleWatcherSse_fn).call(this));
    return;
  }
  __privateSet(this, _lifecycleWatcherStartPromise, __privateMethod(this, _ThreadStream_instances, startLifecycleWatcherWebSocket_fn).call(this));
}, startLifecycleWatcherSse_fn = async function() {
  if (__privateGet(this, _runStartReady) != null) try {
    await __privateGet(this, _runStartReady);
  } catch {
    return;
  }
  const filter = { channels: ["lifecycle", "input"] };
  let handle;
  try {
    handle = __privateGet(this, _transportAdapter).openEventStream(filter);
  } catch {
    return;
  }
  try {
    await handle.ready;
  } catch {
    try {
      handle.close();
    } catch {
    }
    return;
  }
  if (__privateGet(this, _closed)) {
    try {
      handle.close();
    } catch {
    }
    return;
  }
  __privateSet(this, _lifecycleWatcherHandle, handle);
  try {
    for await (const message of handle.events) {
      if (__privateGet(this, _closed)) break;
      __privateMethod(this, _ThreadStream_instances, handleLifecycleWatcherMessage_fn).call(this, message);
    }
  } catch {
  }
}, startLifecycleWatcherWebSocket_fn = async function() {
  let handle;
  try {
    handle = await __privateMethod(this, _ThreadStream_instances, subscribeRaw_fn).call(this, { channels: ["lifecycle", "input"] });
  } catch {
    return;
  }
  if (__privateGet(this, _closed)) {
    try {
      handle.close();
    } catch {
    }
    return;
  }
  try {
    for await (const _event of handle) if (__privateGet(this, _closed)) break;
  } catch {
  }
}, /**
* Process an event from the dedicated lifecycle watcher stream.
*
* Unlike `#handleIncoming`, this does NOT fan out to user
* subscriptions — user subs with namespace wildcards already widen
* `#computeUnionFilter` and therefore receive the event on the
* content pump. Delivering via both streams would only add per-sub
* dedup churn without expanding what the user can observe.
*
* We still run global-dedup thread-level side effects (interrupt
* capture, `onEvent` fan-out) so deeply-nested interrupts outside
* the content pump's narrow scope are recorded.
*/
handleLifecycleWatcherMessage_fn = function(message) {
  if (message.type !== "event") return;
  if (typeof message.seq === "number") this.ordering.lastSeenSeq = maxSeq(this.ordering.lastSeenSeq, message.seq);
  if (message.event_id) this.ordering.lastEventId = message.event_id;
  const eventId = message.event_id ?? void 0;
  const globallyProcessed = eventId != null && __privateGet(this, _seenEventIds).has(eventId);
  if (eventId != null) __privateGet(this, _seenEventIds).add(eventId);
  if (globallyProcessed) return;
  __privateMethod(this, _ThreadStream_instances, applyThreadLevelEffects_fn).call(this, message);
  __privateMethod(this, _ThreadStream_instances, fireOnEvent_fn).call(this, message);
}, applyThreadLevelEffects_fn = function(event) {
  if (event.method === "lifecycle") {
    if (event.params.data.event === "interrupted") this.interrupted = true;
  }
  if (event.method === "input.requested") {
    const data = event.params.data;
    const interruptId = data.interrupt_id ?? `interrupt_${this.interrupts.length}`;
    this.interrupts.push({
      interruptId,
      payload: data.payload,
      namespace: [...event.params.namespace]
    });
    if (isHeadlessToolInterrupt(data.payload)) __privateGet(this, _headlessInterruptsAwaitingTerminal).add(interruptId);
  }
}, fireOnEvent_fn = function(event) {
  if (__privateGet(this, _onEventListeners).size === 0) return;
  for (const listener of __privateGet(this, _onEventListeners)) try {
    listener(event);
  } catch {
  }
}, fireOnError_fn = function(error) {
  for (const listener of __privateGet(this, _onErrorListeners)) try {
    listener(error);
  } catch {
  }
}, subscribeRaw_fn = async function(params, options = {}) {
  await __privateMethod(this, _ThreadStream_instances, ensureOpen_fn).call(this);
  const { unwrapNamedCustom = true } = options;
  const hasOnlyNamedCustom = params.channels.length > 0 && params.channels.every((ch) => ch.startsWith("custom:"));
  const transform = unwrapNamedCustom && hasOnlyNamedCustom ? (event) => {
    var _a17;
    return ((_a17 = event.params.data) == null ? void 0 : _a17.payload) ?? event;
  } : void 0;
  if (__privateGet(this, _transportAdapter).openEventStream != null) return __privateMethod(this, _ThreadStream_instances, subscribeViaSharedStream_fn).call(this, params, transform);
  return __privateMethod(this, _ThreadStream_instances, subscribeViaCommand_fn).call(this, params, transform);
}, subscribeViaSharedStream_fn = async function(params, transform) {
  const subscriptionId = `sse-${__privateWrapper(this, _nextCommandId)._++}`;
  const handle = new SubscriptionHandle(subscriptionId, params, async (id) => {
    __privateGet(this, _subscriptions).delete(id);
    __privateMethod(this, _ThreadStream_instances, scheduleReconcile_fn).call(this);
  }, transform);
  const subscription = Object.assign(handle, {
    filter: params,
    registeredAfterSeq: this.ordering.lastSeenSeq,
    seenEventIds: /* @__PURE__ */ new Set()
  });
  __privateGet(this, _subscriptions).set(subscriptionId, subscription);
  const covered = new Promise((resolve, reject) => {
    __privateGet(this, _pendingSubResolves).push({
      filter: params,
      resolve,
      reject
    });
  });
  __privateMethod(this, _ThreadStream_instances, scheduleReconcile_fn).call(this);
  try {
    await covered;
  } catch (err) {
    __privateGet(this, _subscriptions).delete(subscriptionId);
    throw err;
  }
  return handle;
}, /**
* Progressive-expansion union of every currently-registered
* subscription's filter. The server receives the narrowest filter
* that still covers every active sub so deeply-namespaced or
* selectively-opened projections don't pull down the entire thread's
* event firehose.
*
* Unioning rules (matching the server's matching semantics in
* `matchesSinkFilter`):
*  - Channels: set union.
*  - Namespaces: if any subscription requests a wildcard
*    (`namespaces === undefined`) the union is wildcard; otherwise
*    the union is the deduplicated list of every explicit prefix.
*  - Depth: if any subscription is unbounded (`depth === undefined`)
*    the union is unbounded; otherwise the union is the maximum
*    depth across all subscriptions (matching the per-sub "max
*    reach below the prefix" semantics).
*
* Returns `null` when there are no subscriptions.
*/
computeUnionFilter_fn = function() {
  if (__privateGet(this, _subscriptions).size === 0) return null;
  const channels = /* @__PURE__ */ new Set();
  let wildcardNamespaces = false;
  const namespaceMap = /* @__PURE__ */ new Map();
  let unboundedDepth = false;
  let maxDepth = 0;
  for (const sub of __privateGet(this, _subscriptions).values()) {
    for (const ch of sub.filter.channels) channels.add(ch);
    if (sub.filter.namespaces == null) wildcardNamespaces = true;
    else if (!wildcardNamespaces) for (const ns of sub.filter.namespaces) namespaceMap.set(namespaceKey(ns), ns);
    if (sub.filter.depth == null) unboundedDepth = true;
    else if (!unboundedDepth && sub.filter.depth > maxDepth) maxDepth = sub.filter.depth;
  }
  const result = { channels: [...channels] };
  if (!wildcardNamespaces) result.namespaces = [...namespaceMap.values()];
  if (!unboundedDepth) result.depth = maxDepth;
  return result;
}, /**
* Schedule a stream reconciliation for the next microtask.
*
* Coalesces multiple subscribe/unsubscribe calls in the same tick
* into a single rotation, and serializes across ticks (no two
* rotations ever run concurrently).
*/
scheduleReconcile_fn = function() {
  if (__privateGet(this, _closed)) return;
  if (__privateGet(this, _rotationState) !== "idle") return;
  __privateSet(this, _rotationState, "scheduled");
  queueMicrotask(() => {
    if (__privateGet(this, _closed)) {
      __privateSet(this, _rotationState, "idle");
      return;
    }
    __privateSet(this, _rotationState, "idle");
    __privateMethod(this, _ThreadStream_instances, reconcileStream_fn).call(this).catch(() => {
      __privateSet(this, _rotationState, "idle");
    });
  });
}, reconcileStream_fn = async function() {
  if (__privateGet(this, _closed)) return;
  if (__privateGet(this, _rotationState) === "rotating") return;
  const desired = __privateMethod(this, _ThreadStream_instances, computeUnionFilter_fn).call(this);
  if (desired == null) return;
  if (__privateGet(this, _runStartReady) != null) {
    try {
      await __privateGet(this, _runStartReady);
    } catch (err) {
      const normalized = err instanceof Error ? err : new Error("run.start failed");
      __privateMethod(this, _ThreadStream_instances, rejectUncoveredPending_fn).call(this, normalized);
      return;
    }
    if (__privateGet(this, _closed)) return;
    if (__privateGet(this, _rotationState) === "rotating") return;
  }
  if (__privateGet(this, _sharedStreamFilter) != null && filterEqual(desired, __privateGet(this, _sharedStreamFilter)) && __privateGet(this, _pendingSubResolves).length === 0) {
    __privateMethod(this, _ThreadStream_instances, resolvePending_fn).call(this);
    return;
  }
  __privateSet(this, _rotationState, "rotating");
  let newHandle;
  try {
    newHandle = __privateGet(this, _transportAdapter).openEventStream(desired);
  } catch (err) {
    __privateSet(this, _rotationState, "idle");
    __privateMethod(this, _ThreadStream_instances, rejectUncoveredPending_fn).call(this, err);
    return;
  }
  try {
    await newHandle.ready;
  } catch (err) {
    __privateSet(this, _rotationState, "idle");
    try {
      newHandle.close();
    } catch {
    }
    __privateMethod(this, _ThreadStream_instances, rejectUncoveredPending_fn).call(this, err);
    return;
  }
  if (__privateGet(this, _closed)) {
    try {
      newHandle.close();
    } catch {
    }
    __privateSet(this, _rotationState, "idle");
    return;
  }
  __privateMethod(this, _ThreadStream_instances, pumpStream_fn).call(this, newHandle);
  const oldHandle = __privateGet(this, _sharedStream);
  __privateSet(this, _sharedStream, newHandle);
  __privateSet(this, _sharedStreamFilter, desired);
  if (oldHandle != null) try {
    oldHandle.close();
  } catch {
  }
  __privateSet(this, _rotationState, "idle");
  __privateMethod(this, _ThreadStream_instances, resolvePending_fn).call(this);
  const next = __privateMethod(this, _ThreadStream_instances, computeUnionFilter_fn).call(this);
  if (next != null && !filterEqual(next, __privateGet(this, _sharedStreamFilter))) __privateMethod(this, _ThreadStream_instances, scheduleReconcile_fn).call(this);
}, pumpStream_fn = async function(handle) {
  try {
    for await (const message of handle.events) {
      if (__privateGet(this, _closed)) break;
      __privateMethod(this, _ThreadStream_instances, handleIncoming_fn).call(this, message);
    }
  } catch (err) {
    if (handle === __privateGet(this, _sharedStream) && !__privateGet(this, _closed)) __privateMethod(this, _ThreadStream_instances, failThreadWithError_fn).call(this, err);
  }
}, /**
* Resolve any pending `subscribe()` promises whose filter is now
* covered by the active shared stream. Called after every successful
* rotation (and after no-op reconciliations).
*/
resolvePending_fn = function() {
  if (__privateGet(this, _sharedStreamFilter) == null) return;
  const current = __privateGet(this, _sharedStreamFilter);
  if (__privateGet(this, _pendingSubResolves).length === 0) return;
  const stillPending = [];
  for (const pending of __privateGet(this, _pendingSubResolves)) if (filterCovers(current, pending.filter)) pending.resolve();
  else stillPending.push(pending);
  __privateGet(this, _pendingSubResolves).length = 0;
  __privateGet(this, _pendingSubResolves).push(...stillPending);
}, /**
* Reject pending `subscribe()` promises whose filter isn't covered
* by the existing stream (they're the ones that triggered the
* failed rotation). Covered pending subs are resolved normally —
* they didn't need the new stream.
*/
rejectUncoveredPending_fn = function(err) {
  if (__privateGet(this, _pendingSubResolves).length === 0) return;
  const current = __privateGet(this, _sharedStreamFilter);
  const stillPending = [];
  for (const pending of __privateGet(this, _pendingSubResolves)) if (current != null && filterCovers(current, pending.filter)) pending.resolve();
  else stillPending.push(pending);
  __privateGet(this, _pendingSubResolves).length = 0;
  for (const pending of stillPending) pending.reject(err);
}, /**
* Terminate the thread due to an unrecoverable shared-stream error.
* Rejects pending commands, closes subscriptions, and marks the
* thread closed so no further rotations occur.
*/
failThreadWithError_fn = function(err) {
  const normalized = err instanceof Error ? err : new Error(String(err));
  for (const pending of __privateGet(this, _pending2).values()) pending.reject(normalized);
  __privateGet(this, _pending2).clear();
  for (const pending of __privateGet(this, _pendingSubResolves)) pending.reject(normalized);
  __privateGet(this, _pendingSubResolves).length = 0;
  for (const subscription of __privateGet(this, _subscriptions).values()) subscription.close();
  __privateMethod(this, _ThreadStream_instances, fireOnError_fn).call(this, normalized);
}, subscribeViaCommand_fn = async function(params, transform) {
  const placeholderId = `pending:${__privateGet(this, _nextCommandId)}:${Math.random().toString(36).slice(2, 10)}`;
  let resolvedId = placeholderId;
  const handle = new SubscriptionHandle(placeholderId, params, async () => {
    __privateGet(this, _subscriptions).delete(resolvedId);
    if (!__privateGet(this, _closed) && resolvedId !== placeholderId) await __privateMethod(this, _ThreadStream_instances, send_fn).call(this, "subscription.unsubscribe", { subscription_id: resolvedId }).catch((err) => {
      if (err instanceof ProtocolError && err.code === "no_such_subscription") return;
      throw err;
    });
  }, transform);
  const subscription = Object.assign(handle, {
    filter: params,
    registeredAfterSeq: this.ordering.lastSeenSeq,
    seenEventIds: /* @__PURE__ */ new Set()
  });
  __privateGet(this, _subscriptions).set(placeholderId, subscription);
  if (__privateGet(this, _runStartReady) != null) try {
    await __privateGet(this, _runStartReady);
  } catch (err) {
    __privateGet(this, _subscriptions).delete(placeholderId);
    throw err;
  }
  let result;
  try {
    result = await __privateMethod(this, _ThreadStream_instances, send_fn).call(this, "subscription.subscribe", params);
  } catch (err) {
    __privateGet(this, _subscriptions).delete(placeholderId);
    throw err;
  }
  __privateGet(this, _subscriptions).delete(placeholderId);
  resolvedId = result.subscription_id;
  handle.subscriptionId = resolvedId;
  __privateGet(this, _subscriptions).set(resolvedId, subscription);
  return handle;
}, resubscribeWebSocketSubscriptions_fn = async function() {
  if (__privateGet(this, _transportAdapter).openEventStream != null || __privateGet(this, _closed)) return;
  const entries = [...__privateGet(this, _subscriptions).entries()];
  await Promise.all(entries.map(async ([id, subscription]) => {
    if (id.startsWith("pending:")) return;
    try {
      const nextId = (await __privateMethod(this, _ThreadStream_instances, send_fn).call(this, "subscription.subscribe", subscription.filter)).subscription_id;
      if (nextId === id) return;
      __privateGet(this, _subscriptions).delete(id);
      subscription.subscriptionId = nextId;
      __privateGet(this, _subscriptions).set(nextId, subscription);
      if (__privateGet(this, _lifecycleSubId) === id) __privateSet(this, _lifecycleSubId, nextId);
    } catch {
    }
  }));
}, consumeEvents_fn = async function() {
  try {
    for await (const message of __privateGet(this, _transportAdapter).events()) __privateMethod(this, _ThreadStream_instances, handleIncoming_fn).call(this, message);
    for (const subscription of __privateGet(this, _subscriptions).values()) subscription.close();
  } catch (error) {
    const normalized = error instanceof Error ? error : new Error(String(error));
    for (const pending of __privateGet(this, _pending2).values()) pending.reject(normalized);
    for (const subscription of __privateGet(this, _subscriptions).values()) subscription.close();
    __privateGet(this, _pending2).clear();
  }
}, /**
* Pause non-lifecycle subscriptions after a root terminal lifecycle.
*
* The pause is deferred one macrotask so same-run trailing events
* emitted immediately after terminal (for example final `values`)
* can still drain. `terminalSeq` lets replay attachers skip terminals
* that happened before they registered, so late subscribers can keep
* consuming the replayed history they joined for.
*/
scheduleTerminalPause_fn = function(terminalSeq) {
  if (__privateGet(this, _terminalPauseTimer) != null) clearTimeout(__privateGet(this, _terminalPauseTimer));
  __privateSet(this, _terminalPauseSeq, terminalSeq ?? null);
  __privateSet(this, _terminalPauseTimer, setTimeout(() => {
    __privateSet(this, _terminalPauseTimer, void 0);
    if (__privateGet(this, _closed)) return;
    for (const [id, subscription] of __privateGet(this, _subscriptions)) {
      if (id === __privateGet(this, _lifecycleSubId)) continue;
      if (terminalSeq != null && subscription.registeredAfterSeq != null && subscription.registeredAfterSeq >= terminalSeq) continue;
      subscription.pause();
    }
  }, 0));
}, handleIncoming_fn = function(message) {
  var _a17;
  if (message.type === "event") {
    if (typeof message.seq === "number") this.ordering.lastSeenSeq = maxSeq(this.ordering.lastSeenSeq, message.seq);
    if (message.event_id) this.ordering.lastEventId = message.event_id;
    const eventId = message.event_id ?? void 0;
    const globallyProcessed = eventId != null && __privateGet(this, _seenEventIds).has(eventId);
    if (eventId != null) __privateGet(this, _seenEventIds).add(eventId);
    const TERMINAL_LIFECYCLE_EVENTS = /* @__PURE__ */ new Set([
      "interrupted",
      "completed",
      "failed"
    ]);
    if (!globallyProcessed) {
      __privateMethod(this, _ThreadStream_instances, applyThreadLevelEffects_fn).call(this, message);
      __privateMethod(this, _ThreadStream_instances, fireOnEvent_fn).call(this, message);
    }
    let fannedToAny = false;
    for (const subscription of __privateGet(this, _subscriptions).values()) {
      if (!matchesSubscription(message, subscription.filter)) continue;
      if (eventId != null) {
        if (subscription.seenEventIds.has(eventId)) continue;
        subscription.seenEventIds.add(eventId);
      }
      subscription.push(message);
      fannedToAny = true;
    }
    if (fannedToAny && __privateGet(this, _terminalPauseSeq) !== void 0 && !(message.method === "lifecycle" && message.params.namespace.length === 0)) {
      const eventSeq = typeof message.seq === "number" ? message.seq : void 0;
      const terminalSeq = __privateGet(this, _terminalPauseSeq);
      if (terminalSeq === null || eventSeq == null || eventSeq > terminalSeq) {
        if (__privateGet(this, _terminalPauseTimer) != null) {
          clearTimeout(__privateGet(this, _terminalPauseTimer));
          __privateSet(this, _terminalPauseTimer, void 0);
        }
        for (const [id, subscription] of __privateGet(this, _subscriptions)) if (id !== __privateGet(this, _lifecycleSubId)) subscription.resume();
        __privateMethod(this, _ThreadStream_instances, scheduleTerminalPause_fn).call(this, terminalSeq === null ? void 0 : terminalSeq);
      }
    }
    if (fannedToAny && message.method === "lifecycle" && message.params.namespace.length === 0 && TERMINAL_LIFECYCLE_EVENTS.has(message.params.data.event)) {
      if (message.params.data.event === "interrupted" && __privateGet(this, _headlessInterruptsAwaitingTerminal).size > 0) {
        __privateGet(this, _headlessInterruptsAwaitingTerminal).clear();
        return;
      }
      __privateMethod(this, _ThreadStream_instances, scheduleTerminalPause_fn).call(this, typeof message.seq === "number" ? message.seq : void 0);
    }
    return;
  }
  const messageId = typeof message.id === "number" ? message.id : void 0;
  const pending = messageId === void 0 ? void 0 : __privateGet(this, _pending2).get(messageId);
  if (!pending) {
    if (message.type === "error" && message.id == null) __privateMethod(this, _ThreadStream_instances, fireOnError_fn).call(this, new ProtocolError(message));
    return;
  }
  if (messageId !== void 0) __privateGet(this, _pending2).delete(messageId);
  if (message.type === "error") {
    pending.reject(new ProtocolError(message));
    return;
  }
  if (typeof ((_a17 = message.meta) == null ? void 0 : _a17.applied_through_seq) === "number") this.ordering.lastAppliedThroughSeq = message.meta.applied_through_seq;
  pending.resolve(message);
}, send_fn = async function(method, params) {
  var _a17;
  await __privateMethod(this, _ThreadStream_instances, ensureOpen_fn).call(this);
  const id = __privateWrapper(this, _nextCommandId)._++;
  const command = {
    id,
    method,
    params
  };
  const responsePromise = new Promise((resolve, reject) => {
    __privateGet(this, _pending2).set(id, {
      resolve,
      reject
    });
  });
  const immediate = await __privateGet(this, _transportAdapter).send(command);
  if (immediate) {
    __privateGet(this, _pending2).delete(id);
    if (immediate.type === "error") throw new ProtocolError(immediate);
    if (typeof ((_a17 = immediate.meta) == null ? void 0 : _a17.applied_through_seq) === "number") this.ordering.lastAppliedThroughSeq = immediate.meta.applied_through_seq;
    return immediate.result;
  }
  return (await responsePromise).result;
}, _a4);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/transport/queue.js
var AsyncQueue = class {
  constructor() {
    __publicField(this, "values", []);
    __publicField(this, "waiters", []);
    __publicField(this, "rejecters", []);
    __publicField(this, "closed", false);
    __publicField(this, "error", null);
  }
  push(value) {
    if (this.closed) return;
    const waiter = this.waiters.shift();
    this.rejecters.shift();
    if (waiter) {
      waiter({
        done: false,
        value
      });
      return;
    }
    this.values.push(value);
  }
  close(error) {
    if (this.closed) return;
    this.closed = true;
    this.error = error == null ? null : error instanceof Error ? error : new Error(String(error));
    if (this.error) {
      for (const rejecter of this.rejecters.splice(0)) rejecter(this.error);
      this.waiters.length = 0;
      return;
    }
    for (const waiter of this.waiters.splice(0)) waiter({
      done: true,
      value: void 0
    });
    this.rejecters.length = 0;
  }
  async shift() {
    if (this.values.length > 0) return {
      done: false,
      value: this.values.shift()
    };
    if (this.error) throw this.error;
    if (this.closed) return {
      done: true,
      value: void 0
    };
    return await new Promise((resolve, reject) => {
      this.waiters.push(resolve);
      this.rejecters.push(reject);
    });
  }
};

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/transport/utils.js
var isRecord = (value) => typeof value === "object" && value !== null;
function resolveProtocolPath(path, threadId, fallback) {
  if (typeof path === "string") return path;
  if (!threadId) throw new Error("Protocol transport has no bound threadId. Bind one — the framework calls client.threads.stream(threadId, { transport }) / transport.setThreadId(threadId) — before issuing requests.");
  return path ? path(threadId) : fallback(threadId);
}
var toAbsoluteUrl = (apiUrl, path) => new URL(`${apiUrl.replace(/\/$/, "")}${path}`);
var toError = (error) => error instanceof Error ? error : new Error(String(error));
var toWebSocketUrl = (apiUrl) => {
  const url = new URL(apiUrl);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = "";
  url.hash = "";
  return url.toString();
};
var hasHeaders = (headers) => Object.values(headers ?? {}).some((value) => value != null);
function mergeHeaders2(...headerGroups) {
  const merged = new Headers();
  for (const group of headerGroups) {
    if (!group) continue;
    if (group instanceof Headers) {
      group.forEach((value, key) => {
        merged.set(key, value);
      });
      continue;
    }
    if (Array.isArray(group)) {
      for (const [key, value] of group) if (value == null) merged.delete(key);
      else merged.set(key, value);
      continue;
    }
    for (const [key, value] of Object.entries(group)) if (value == null) merged.delete(key);
    else merged.set(key, value);
  }
  return merged;
}
function isProtocolResponse(value) {
  return isRecord(value) && typeof value.type === "string" && (value.type === "success" || value.type === "error");
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/transport/http.js
var ProtocolSseTransportAdapter = class {
  constructor(options) {
    __publicField(this, "threadId");
    __publicField(this, "apiUrl");
    __publicField(this, "queue", new AsyncQueue());
    __publicField(this, "fetchImpl");
    __publicField(this, "defaultHeaders");
    __publicField(this, "onRequest");
    __publicField(this, "fetchFactory");
    __publicField(this, "asyncCaller");
    __publicField(this, "maxReconnectAttempts");
    __publicField(this, "idleReconnect");
    __publicField(this, "onReconnect");
    __publicField(this, "onConnected");
    __publicField(this, "reconnectDelayMs");
    __publicField(this, "paths");
    __publicField(this, "sessionAbortController", new AbortController());
    __publicField(this, "eventStreams", /* @__PURE__ */ new Set());
    __publicField(this, "closed", false);
    this.fetchImpl = options.fetch ?? fetch;
    this.apiUrl = options.apiUrl;
    this.defaultHeaders = options.defaultHeaders ?? {};
    this.onRequest = options.onRequest;
    this.fetchFactory = options.fetchFactory;
    this.asyncCaller = options.asyncCaller;
    this.maxReconnectAttempts = options.maxReconnectAttempts ?? 5;
    this.idleReconnect = options.idleReconnect ?? "auto";
    this.onReconnect = options.onReconnect;
    this.onConnected = options.onConnected;
    this.reconnectDelayMs = options.reconnectDelayMs ?? reconnectDelayMs;
    this.threadId = options.threadId ?? "";
    this.paths = options.paths;
  }
  /** {@inheritDoc TransportAdapter.setThreadId} */
  setThreadId(threadId) {
    this.threadId = threadId;
  }
  /**
  * Command/stream/state URLs derive from the currently-bound thread so a
  * single adapter can follow {@link setThreadId} re-binds. A fixed
  * `paths.*` string overrides the default and is used as-is.
  */
  get commandsUrl() {
    var _a17;
    return resolveProtocolPath((_a17 = this.paths) == null ? void 0 : _a17.commands, this.threadId, (id) => `/threads/${id}/commands`);
  }
  get streamUrl() {
    var _a17;
    return resolveProtocolPath((_a17 = this.paths) == null ? void 0 : _a17.stream, this.threadId, (id) => `/threads/${id}/stream/events`);
  }
  get stateUrl() {
    var _a17;
    return resolveProtocolPath((_a17 = this.paths) == null ? void 0 : _a17.state, this.threadId, (id) => `/threads/${id}/state`);
  }
  /**
  * Fetch checkpointed thread state for hydration.
  *
  * Uses `GET`, matching `client.threads.getState()` and both LangGraph
  * Platform and Agent Protocol custom backends (`POST` is reserved for
  * `updateState`).
  */
  async getState() {
    const url = toAbsoluteUrl(this.apiUrl, this.stateUrl);
    let requestInit = {
      method: "GET",
      headers: mergeHeaders2(this.defaultHeaders, {})
    };
    if (this.onRequest) requestInit = await this.onRequest(url, requestInit);
    const response = await (await this.resolveFetch())(url.toString(), requestInit);
    if (response.status === 404) return null;
    if (!response.ok) {
      const error = toError(new Error(`Thread state request failed: ${response.status} ${response.statusText}`));
      error.status = response.status;
      throw error;
    }
    return await response.json();
  }
  async resolveFetch() {
    if (this.fetchFactory) return await this.fetchFactory();
    return this.fetchImpl;
  }
  /**
  * HTTP/SSE transports have no handshake — connections are made
  * per-command and per-subscription.
  */
  async open() {
  }
  async send(command) {
    const response = await this.request(this.commandsUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(command),
      signal: this.sessionAbortController.signal
    });
    if (response.status === 202 || response.status === 204) return;
    const payload = await response.json();
    if (!isProtocolResponse(payload)) throw new Error("Protocol command did not return a valid response.");
    return payload;
  }
  /**
  * WebSocket-style single event stream.
  * For the SSE transport this returns a dummy iterable; real event
  * delivery happens via {@link openEventStream}.
  */
  events() {
    const queue = this.queue;
    return { [Symbol.asyncIterator]: () => ({
      next: async () => await queue.shift(),
      return: async () => {
        queue.close();
        return {
          done: true,
          value: void 0
        };
      }
    }) };
  }
  openEventStream(params) {
    if (this.closed) throw new Error("Protocol transport is closed.");
    const ac = new AbortController();
    this.eventStreams.add(ac);
    const streamQueue = new AsyncQueue();
    const streamUrl = this.streamUrl;
    let resolveReady;
    let rejectReady;
    const ready = new Promise((resolve, reject) => {
      resolveReady = resolve;
      rejectReady = reject;
    });
    const initialSince = typeof params.since === "number" ? params.since : void 0;
    let readySettled = false;
    const startStream = async () => {
      var _a17, _b, _c;
      let attempt = 0;
      let receivedEvent = false;
      while (!ac.signal.aborted && !this.closed) try {
        const response = await this.request(streamUrl, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: "text/event-stream"
          },
          body: JSON.stringify({
            channels: params.channels,
            ...params.namespaces ? { namespaces: params.namespaces } : {},
            ...params.depth != null ? { depth: params.depth } : {},
            ...!readySettled && initialSince != null ? { since: initialSince } : {}
          }),
          signal: ac.signal
        }, { stream: true });
        const contentType = (_a17 = response.headers.get("content-type")) == null ? void 0 : _a17.split(";")[0];
        if (contentType && !contentType.includes("text/event-stream")) throw new Error(`Expected response header Content-Type to contain 'text/event-stream', got '${contentType}'`);
        await ((_b = this.onConnected) == null ? void 0 : _b.call(this, {
          kind: attempt === 0 ? "initial" : "reconnected",
          attempt
        }));
        if (!readySettled) {
          readySettled = true;
          resolveReady();
        }
        const readable = response.body ?? new ReadableStream({ start(controller) {
          controller.close();
        } });
        const enableIdle = this.idleReconnect === "auto" || typeof this.idleReconnect === "number" && this.idleReconnect > 0;
        const lines = readable.pipeThrough(BytesLineDecoder());
        const stream = (enableIdle ? lines.pipeThrough(idleReconnectStream({ mode: this.idleReconnect })) : lines).pipeThrough(SSEDecoder());
        const iterable = IterableReadableStream.fromReadableStream(stream);
        for await (const event of iterable) {
          if (ac.signal.aborted || this.closed) break;
          if (isRecord(event.data)) {
            receivedEvent = true;
            streamQueue.push(event.data);
          }
        }
        if (ac.signal.aborted || this.closed || this.maxReconnectAttempts <= 0) {
          streamQueue.close();
          return;
        }
        throw new Error("Event stream closed by the server");
      } catch (error) {
        if (receivedEvent) {
          attempt = 0;
          receivedEvent = false;
        }
        if (ac.signal.aborted || this.closed) {
          if (!readySettled) rejectReady(error);
          streamQueue.close();
          return;
        }
        if (this.maxReconnectAttempts <= 0) {
          if (!readySettled) rejectReady(error);
          streamQueue.close(toError(error));
          return;
        }
        attempt += 1;
        if (attempt > this.maxReconnectAttempts) {
          if (!readySettled) rejectReady(error);
          streamQueue.close(toError(error));
          return;
        }
        const delay = this.reconnectDelayMs(attempt);
        (_c = this.onReconnect) == null ? void 0 : _c.call(this, {
          attempt,
          cause: error,
          delayMs: delay
        });
        if (delay > 0) await new Promise((resolve) => {
          setTimeout(resolve, delay);
        });
      }
    };
    startStream();
    const cleanup = () => {
      this.eventStreams.delete(ac);
      ac.abort();
      streamQueue.close();
    };
    return {
      events: { [Symbol.asyncIterator]: () => ({
        next: async () => await streamQueue.shift(),
        return: async () => {
          cleanup();
          return {
            done: true,
            value: void 0
          };
        }
      }) },
      ready,
      close: cleanup
    };
  }
  async close() {
    if (this.closed) return;
    this.closed = true;
    this.sessionAbortController.abort();
    for (const ac of this.eventStreams) ac.abort();
    this.eventStreams.clear();
    this.queue.close();
  }
  async request(path, init, options) {
    const url = toAbsoluteUrl(this.apiUrl, path);
    let requestInit = {
      ...init,
      headers: mergeHeaders2(this.defaultHeaders, init.headers)
    };
    if (this.onRequest) requestInit = await this.onRequest(url, requestInit);
    const useAsyncCaller = this.asyncCaller != null && !(options == null ? void 0 : options.stream);
    const execute = async () => {
      const response = await (await this.resolveFetch())(url.toString(), requestInit);
      if (!response.ok) {
        if (useAsyncCaller) throw response;
        let detail = "";
        try {
          const body = await response.text();
          const parsed = JSON.parse(body);
          if (typeof parsed === "object" && parsed != null) detail = parsed.message ?? parsed.error ?? "";
          if (!detail) detail = body;
        } catch {
        }
        const message = detail ? `Protocol request failed: ${response.status} ${response.statusText} — ${detail}` : `Protocol request failed: ${response.status} ${response.statusText}`;
        throw new Error(message);
      }
      return response;
    };
    try {
      return useAsyncCaller ? await this.asyncCaller.call(execute) : await execute();
    } catch (error) {
      throw toError(error);
    }
  }
};

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/transport/websocket.js
var WEB_SOCKET_CONNECTING = 0;
var WEB_SOCKET_OPEN = 1;
var WEB_SOCKET_CLOSED = 3;
var _ProtocolWebSocketTransportAdapter_instances, attachSocket_fn, detachSocket_fn, handleUnexpectedDisconnect_fn, scheduleReconnect_fn, runReconnectLoop_fn, _a5;
var ProtocolWebSocketTransportAdapter = (_a5 = class {
  constructor(options) {
    __privateAdd(this, _ProtocolWebSocketTransportAdapter_instances);
    __publicField(this, "threadId");
    __publicField(this, "queue", new AsyncQueue());
    __publicField(this, "apiUrl");
    __publicField(this, "defaultHeaders");
    __publicField(this, "onRequest");
    __publicField(this, "webSocketFactory");
    __publicField(this, "paths");
    __publicField(this, "maxReconnectAttempts");
    __publicField(this, "onReconnect");
    __publicField(this, "onConnected");
    __publicField(this, "reconnectDelayMs");
    __publicField(this, "onReconnected");
    __publicField(this, "pending", /* @__PURE__ */ new Map());
    __publicField(this, "socket", null);
    __publicField(this, "closed", false);
    __publicField(this, "intentionalClose", false);
    __publicField(this, "reconnectInFlight", null);
    __publicField(this, "handleMessage", (event) => {
      let payload;
      try {
        payload = JSON.parse(String(event.data));
      } catch {
        return;
      }
      if (isRecord(payload) && typeof payload.id === "number" && (payload.type === "success" || payload.type === "error")) {
        const pending = this.pending.get(payload.id);
        if (pending) {
          this.pending.delete(payload.id);
          pending.resolve(payload);
        }
        return;
      }
      if (isRecord(payload) && payload.type === "event") this.queue.push(payload);
    });
    __publicField(this, "handleClose", () => {
      const socket = this.socket;
      if (socket != null) __privateMethod(this, _ProtocolWebSocketTransportAdapter_instances, detachSocket_fn).call(this, socket);
      this.socket = null;
      if (this.intentionalClose || this.closed) {
        this.queue.close();
        return;
      }
      __privateMethod(this, _ProtocolWebSocketTransportAdapter_instances, handleUnexpectedDisconnect_fn).call(this, new Error("Protocol WebSocket closed unexpectedly."));
    });
    __publicField(this, "handleSocketError", () => {
      if (this.closed || this.intentionalClose) return;
      __privateMethod(this, _ProtocolWebSocketTransportAdapter_instances, handleUnexpectedDisconnect_fn).call(this, new Error("Protocol WebSocket encountered an error."));
    });
    this.apiUrl = options.apiUrl;
    this.threadId = options.threadId ?? "";
    this.defaultHeaders = options.defaultHeaders;
    this.onRequest = options.onRequest;
    this.webSocketFactory = options.webSocketFactory ?? ((url) => new WebSocket(url));
    this.paths = options.paths;
    this.maxReconnectAttempts = options.maxReconnectAttempts ?? 5;
    this.onReconnect = options.onReconnect;
    this.onConnected = options.onConnected;
    this.onReconnected = options.onReconnected;
    this.reconnectDelayMs = options.reconnectDelayMs ?? reconnectDelayMs;
  }
  /** {@inheritDoc TransportAdapter.setThreadId} */
  setThreadId(threadId) {
    if (threadId === this.threadId) return;
    if (this.reconnectInFlight != null || this.socket != null && this.socket.readyState !== WEB_SOCKET_CLOSED) throw new Error("Protocol WebSocket transport cannot be rebound to a different thread while the socket is open. Close the current stream and create a new WebSocket transport for the new thread.");
    this.threadId = threadId;
  }
  /**
  * Socket URL derives from the currently-bound thread so a single adapter
  * can follow {@link setThreadId} re-binds; the next {@link open} connects
  * to the new thread. A fixed `paths.stream` string overrides the default.
  */
  get streamUrl() {
    var _a17;
    return resolveProtocolPath((_a17 = this.paths) == null ? void 0 : _a17.stream, this.threadId, (id) => `/threads/${id}/stream/events`);
  }
  /**
  * Register a callback invoked after each successful reconnect. Used
  * by {@link ThreadStream} to re-send active `subscription.subscribe`
  * commands.
  */
  setOnReconnected(handler) {
    this.onReconnected = handler;
  }
  async open() {
    var _a17, _b;
    const reconnecting = this.reconnectInFlight != null;
    if (this.closed) throw new Error("Protocol WebSocket transport is closed.");
    if (((_a17 = this.socket) == null ? void 0 : _a17.readyState) === WEB_SOCKET_OPEN) return;
    if (this.socket != null) {
      __privateMethod(this, _ProtocolWebSocketTransportAdapter_instances, detachSocket_fn).call(this, this.socket);
      this.socket = null;
    }
    this.assertBrowserSafeTransportConfig();
    const wsUrl = toWebSocketUrl(toAbsoluteUrl(this.apiUrl, this.streamUrl).toString());
    const socket = this.webSocketFactory(wsUrl);
    this.socket = socket;
    this.intentionalClose = false;
    __privateMethod(this, _ProtocolWebSocketTransportAdapter_instances, attachSocket_fn).call(this, socket);
    await new Promise((resolve, reject) => {
      const onOpen = () => {
        cleanup();
        resolve();
      };
      const onError = () => {
        cleanup();
        reject(new Error("Failed to open protocol WebSocket."));
      };
      const cleanup = () => {
        socket.removeEventListener("open", onOpen);
        socket.removeEventListener("error", onError);
      };
      socket.addEventListener("open", onOpen, { once: true });
      socket.addEventListener("error", onError, { once: true });
    });
    if (!reconnecting) await ((_b = this.onConnected) == null ? void 0 : _b.call(this, {
      kind: "initial",
      attempt: 0
    }));
  }
  async send(command) {
    return await this.sendCommand(command);
  }
  events() {
    const queue = this.queue;
    return { [Symbol.asyncIterator]: () => ({
      next: async () => await queue.shift(),
      return: async () => {
        queue.close();
        return {
          done: true,
          value: void 0
        };
      }
    }) };
  }
  async close() {
    if (this.closed) return;
    this.closed = true;
    this.intentionalClose = true;
    for (const { reject } of this.pending.values()) reject(new Error("Protocol WebSocket connection closed."));
    this.pending.clear();
    this.queue.close();
    const socket = this.socket;
    this.socket = null;
    if (!socket) return;
    __privateMethod(this, _ProtocolWebSocketTransportAdapter_instances, detachSocket_fn).call(this, socket);
    await new Promise((resolve) => {
      if (socket.readyState === WEB_SOCKET_CLOSED) {
        resolve();
        return;
      }
      const onClose = () => {
        socket.removeEventListener("close", onClose);
        resolve();
      };
      socket.addEventListener("close", onClose, { once: true });
      if (socket.readyState === WEB_SOCKET_OPEN || socket.readyState === WEB_SOCKET_CONNECTING) socket.close();
      else resolve();
    });
  }
  assertBrowserSafeTransportConfig() {
    if (hasHeaders(this.defaultHeaders) || this.onRequest != null) throw new Error("Browser WebSocket protocol transport does not support defaultHeaders or onRequest hooks. Supply a custom protocolWebSocketFactory if you need custom WebSocket setup.");
  }
  async sendCommand(command) {
    let socket = this.socket;
    if (this.reconnectInFlight != null && (socket == null || socket.readyState !== WEB_SOCKET_OPEN)) {
      await this.reconnectInFlight.catch(() => void 0);
      socket = this.socket;
    }
    if (socket == null || socket.readyState !== WEB_SOCKET_OPEN) throw new Error("Protocol WebSocket is not open.");
    return await new Promise((resolve, reject) => {
      this.pending.set(command.id, {
        resolve,
        reject
      });
      try {
        socket.send(JSON.stringify(command));
      } catch (error) {
        this.pending.delete(command.id);
        reject(toError(error));
      }
    });
  }
}, _ProtocolWebSocketTransportAdapter_instances = new WeakSet(), attachSocket_fn = function(socket) {
  socket.addEventListener("message", this.handleMessage);
  socket.addEventListener("close", this.handleClose);
  socket.addEventListener("error", this.handleSocketError);
}, detachSocket_fn = function(socket) {
  socket.removeEventListener("message", this.handleMessage);
  socket.removeEventListener("close", this.handleClose);
  socket.removeEventListener("error", this.handleSocketError);
}, handleUnexpectedDisconnect_fn = function(cause) {
  const error = toError(cause);
  for (const { reject } of this.pending.values()) reject(error);
  this.pending.clear();
  if (this.maxReconnectAttempts <= 0) {
    this.queue.close(error);
    return;
  }
  __privateMethod(this, _ProtocolWebSocketTransportAdapter_instances, scheduleReconnect_fn).call(this, cause);
}, scheduleReconnect_fn = function(cause) {
  if (this.closed || this.intentionalClose) return;
  if (this.reconnectInFlight != null) return;
  this.reconnectInFlight = Promise.resolve().then(() => __privateMethod(this, _ProtocolWebSocketTransportAdapter_instances, runReconnectLoop_fn).call(this, cause)).finally(() => {
    this.reconnectInFlight = null;
  });
}, runReconnectLoop_fn = async function(initialCause) {
  var _a17, _b;
  let lastError = initialCause;
  for (let attempt = 1; attempt <= this.maxReconnectAttempts; attempt += 1) {
    if (this.closed || this.intentionalClose) return;
    const delay = this.reconnectDelayMs(attempt);
    (_a17 = this.onReconnect) == null ? void 0 : _a17.call(this, {
      attempt,
      cause: lastError,
      delayMs: delay
    });
    if (delay > 0) await new Promise((resolve) => {
      setTimeout(resolve, delay);
    });
    if (this.closed || this.intentionalClose) return;
    try {
      await this.open();
      if (this.onReconnected) await this.onReconnected();
      await ((_b = this.onConnected) == null ? void 0 : _b.call(this, {
        kind: "reconnected",
        attempt
      }));
      return;
    } catch (error) {
      lastError = error;
    }
  }
  this.queue.close(new MaxWebSocketReconnectAttemptsError(this.maxReconnectAttempts, lastError));
}, _a5);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/transport/agent-server.js
var _delegate, _a6;
var HttpAgentServerAdapter = (_a6 = class {
  constructor(options) {
    __publicField(this, "threadId");
    __publicField(this, "apiUrl");
    __privateAdd(this, _delegate);
    /**
    * Thread-state reads are SSE-only. WebSocket delegates omit this so
    * {@link StreamController} falls back to `client.threads.getState()`.
    */
    __publicField(this, "getState");
    this.threadId = options.threadId ?? "";
    this.apiUrl = options.apiUrl;
    __privateSet(this, _delegate, options.webSocketFactory != null ? new ProtocolWebSocketTransportAdapter({
      apiUrl: options.apiUrl,
      threadId: options.threadId,
      defaultHeaders: options.defaultHeaders,
      onRequest: options.onRequest,
      paths: options.paths,
      webSocketFactory: options.webSocketFactory
    }) : new ProtocolSseTransportAdapter({
      apiUrl: options.apiUrl,
      threadId: options.threadId,
      defaultHeaders: options.defaultHeaders,
      onRequest: options.onRequest,
      fetch: options.fetch,
      asyncCaller: options.asyncCaller,
      paths: options.paths
    }));
    if (options.webSocketFactory == null) {
      const sse = __privateGet(this, _delegate);
      this.getState = sse.getState.bind(sse);
    }
  }
  /** {@inheritDoc TransportAdapter.setThreadId} */
  setThreadId(threadId) {
    var _a17, _b;
    this.threadId = threadId;
    (_b = (_a17 = __privateGet(this, _delegate)).setThreadId) == null ? void 0 : _b.call(_a17, threadId);
  }
  open() {
    return __privateGet(this, _delegate).open();
  }
  send(command) {
    return __privateGet(this, _delegate).send(command);
  }
  events() {
    return __privateGet(this, _delegate).events();
  }
  openEventStream(params) {
    if (__privateGet(this, _delegate).openEventStream == null) throw new Error("HttpAgentServerAdapter delegate does not support openEventStream (WebSocket path).");
    return __privateGet(this, _delegate).openEventStream(params);
  }
  close() {
    return __privateGet(this, _delegate).close();
  }
}, _delegate = new WeakMap(), _a6);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/assistants/index.js
var AssistantsClient = class extends BaseClient {
  /**
  * Get an assistant by ID.
  *
  * @param assistantId The ID of the assistant.
  * @returns Assistant
  */
  async get(assistantId, options) {
    return this.fetch(`/assistants/${assistantId}`, { signal: options == null ? void 0 : options.signal });
  }
  /**
  * Get the JSON representation of the graph assigned to a runnable
  * @param assistantId The ID of the assistant.
  * @param options.xray Whether to include subgraphs in the serialized graph representation. If an integer value is provided, only subgraphs with a depth less than or equal to the value will be included.
  * @returns Serialized graph
  */
  async getGraph(assistantId, options) {
    return this.fetch(`/assistants/${assistantId}/graph`, {
      params: { xray: options == null ? void 0 : options.xray },
      signal: options == null ? void 0 : options.signal
    });
  }
  /**
  * Get the state and config schema of the graph assigned to a runnable
  * @param assistantId The ID of the assistant.
  * @returns Graph schema
  */
  async getSchemas(assistantId, options) {
    return this.fetch(`/assistants/${assistantId}/schemas`, { signal: options == null ? void 0 : options.signal });
  }
  /**
  * Get the schemas of an assistant by ID.
  *
  * @param assistantId The ID of the assistant to get the schema of.
  * @param options Additional options for getting subgraphs, such as namespace or recursion extraction.
  * @returns The subgraphs of the assistant.
  */
  async getSubgraphs(assistantId, options) {
    if (options == null ? void 0 : options.namespace) return this.fetch(`/assistants/${assistantId}/subgraphs/${options.namespace}`, {
      params: { recurse: options == null ? void 0 : options.recurse },
      signal: options == null ? void 0 : options.signal
    });
    return this.fetch(`/assistants/${assistantId}/subgraphs`, {
      params: { recurse: options == null ? void 0 : options.recurse },
      signal: options == null ? void 0 : options.signal
    });
  }
  /**
  * Create a new assistant.
  * @param payload Payload for creating an assistant.
  * @returns The created assistant.
  */
  async create(payload) {
    return this.fetch("/assistants", {
      method: "POST",
      json: {
        graph_id: payload.graphId,
        config: payload.config,
        context: payload.context,
        metadata: payload.metadata,
        assistant_id: payload.assistantId,
        if_exists: payload.ifExists,
        name: payload.name,
        description: payload.description
      },
      signal: payload.signal
    });
  }
  /**
  * Update an assistant.
  * @param assistantId ID of the assistant.
  * @param payload Payload for updating the assistant.
  * @returns The updated assistant.
  */
  async update(assistantId, payload) {
    return this.fetch(`/assistants/${assistantId}`, {
      method: "PATCH",
      json: {
        graph_id: payload.graphId,
        config: payload.config,
        context: payload.context,
        metadata: payload.metadata,
        name: payload.name,
        description: payload.description
      },
      signal: payload.signal
    });
  }
  /**
  * Delete an assistant.
  *
  * @param assistantId ID of the assistant.
  * @param deleteThreads If true, delete all threads with `metadata.assistant_id` equal to `assistantId`. Defaults to false.
  */
  async delete(assistantId, options) {
    return this.fetch(`/assistants/${assistantId}?delete_threads=${(options == null ? void 0 : options.deleteThreads) ?? false}`, {
      method: "DELETE",
      signal: options == null ? void 0 : options.signal
    });
  }
  async search(query) {
    const json = {
      graph_id: (query == null ? void 0 : query.graphId) ?? void 0,
      name: (query == null ? void 0 : query.name) ?? void 0,
      metadata: (query == null ? void 0 : query.metadata) ?? void 0,
      limit: (query == null ? void 0 : query.limit) ?? 10,
      offset: (query == null ? void 0 : query.offset) ?? 0,
      sort_by: (query == null ? void 0 : query.sortBy) ?? void 0,
      sort_order: (query == null ? void 0 : query.sortOrder) ?? void 0,
      select: (query == null ? void 0 : query.select) ?? void 0
    };
    const [assistants, response] = await this.fetch("/assistants/search", {
      method: "POST",
      json,
      withResponse: true,
      signal: query == null ? void 0 : query.signal
    });
    if (query == null ? void 0 : query.includePagination) return {
      assistants,
      next: response.headers.get("X-Pagination-Next")
    };
    return assistants;
  }
  /**
  * Count assistants matching filters.
  *
  * @param query.metadata Metadata to filter by. Exact match for each key/value.
  * @param query.graphId Optional graph id to filter by.
  * @param query.name Optional name to filter by.
  * @returns Number of assistants matching the criteria.
  */
  async count(query) {
    return this.fetch(`/assistants/count`, {
      method: "POST",
      json: {
        metadata: (query == null ? void 0 : query.metadata) ?? void 0,
        graph_id: (query == null ? void 0 : query.graphId) ?? void 0,
        name: (query == null ? void 0 : query.name) ?? void 0
      },
      signal: query == null ? void 0 : query.signal
    });
  }
  /**
  * List all versions of an assistant.
  *
  * @param assistantId ID of the assistant.
  * @returns List of assistant versions.
  */
  async getVersions(assistantId, payload) {
    return this.fetch(`/assistants/${assistantId}/versions`, {
      method: "POST",
      json: {
        metadata: (payload == null ? void 0 : payload.metadata) ?? void 0,
        limit: (payload == null ? void 0 : payload.limit) ?? 10,
        offset: (payload == null ? void 0 : payload.offset) ?? 0
      },
      signal: payload == null ? void 0 : payload.signal
    });
  }
  /**
  * Change the version of an assistant.
  *
  * @param assistantId ID of the assistant.
  * @param version The version to change to.
  * @returns The updated assistant.
  */
  async setLatest(assistantId, version, options) {
    return this.fetch(`/assistants/${assistantId}/latest`, {
      method: "POST",
      json: { version },
      signal: options == null ? void 0 : options.signal
    });
  }
};

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/threads/index.js
var ThreadsClient = class extends BaseClient {
  /**
  * Get a thread by ID.
  *
  * @param threadId ID of the thread.
  * @returns The thread.
  */
  async get(threadId, options) {
    return this.fetch(`/threads/${threadId}`, {
      params: { include: (options == null ? void 0 : options.include) ?? void 0 },
      signal: options == null ? void 0 : options.signal
    });
  }
  /**
  * Create a new thread.
  *
  * @param payload Payload for creating a thread.
  * @returns The created thread.
  */
  async create(payload) {
    var _a17;
    const ttlPayload = typeof (payload == null ? void 0 : payload.ttl) === "number" ? {
      ttl: payload.ttl,
      strategy: "delete"
    } : payload == null ? void 0 : payload.ttl;
    return this.fetch(`/threads`, {
      method: "POST",
      json: {
        metadata: {
          ...payload == null ? void 0 : payload.metadata,
          graph_id: payload == null ? void 0 : payload.graphId
        },
        thread_id: payload == null ? void 0 : payload.threadId,
        if_exists: payload == null ? void 0 : payload.ifExists,
        supersteps: (_a17 = payload == null ? void 0 : payload.supersteps) == null ? void 0 : _a17.map((s) => ({ updates: s.updates.map((u) => ({
          values: u.values,
          command: u.command,
          as_node: u.asNode
        })) })),
        ttl: ttlPayload
      },
      signal: payload == null ? void 0 : payload.signal
    });
  }
  /**
  * Copy an existing thread
  * @param threadId ID of the thread to be copied
  * @returns Newly copied thread
  */
  async copy(threadId, options) {
    return this.fetch(`/threads/${threadId}/copy`, {
      method: "POST",
      signal: options == null ? void 0 : options.signal
    });
  }
  async update(threadId, payload) {
    const ttlPayload = typeof (payload == null ? void 0 : payload.ttl) === "number" ? {
      ttl: payload.ttl,
      strategy: "delete"
    } : payload == null ? void 0 : payload.ttl;
    return this.fetch(`/threads/${threadId}`, {
      method: "PATCH",
      headers: (payload == null ? void 0 : payload.returnMinimal) ? { Prefer: "return=minimal" } : void 0,
      json: {
        metadata: payload == null ? void 0 : payload.metadata,
        ttl: ttlPayload
      },
      signal: payload == null ? void 0 : payload.signal
    });
  }
  /**
  * Delete a thread.
  *
  * @param threadId ID of the thread.
  */
  async delete(threadId, options) {
    return this.fetch(`/threads/${threadId}`, {
      method: "DELETE",
      signal: options == null ? void 0 : options.signal
    });
  }
  /**
  * Prune threads by ID. The 'delete' strategy removes threads entirely.
  * The 'keep_latest' strategy prunes old checkpoints but keeps threads
  * and their latest state.
  *
  * @param threadIds List of thread IDs to prune.
  * @param options Additional options for pruning.
  * @param options.strategy The prune strategy. Defaults to 'delete'.
  * @param options.signal Signal to abort the request.
  * @returns An object containing `pruned_count`.
  */
  async prune(threadIds, options) {
    return this.fetch("/threads/prune", {
      method: "POST",
      json: {
        thread_ids: threadIds,
        strategy: (options == null ? void 0 : options.strategy) ?? "delete"
      },
      signal: options == null ? void 0 : options.signal
    });
  }
  /**
  * List threads
  *
  * @param query Query options
  * @returns List of threads
  */
  async search(query) {
    return this.fetch("/threads/search", {
      method: "POST",
      json: {
        metadata: (query == null ? void 0 : query.metadata) ?? void 0,
        ids: (query == null ? void 0 : query.ids) ?? void 0,
        limit: (query == null ? void 0 : query.limit) ?? 10,
        offset: (query == null ? void 0 : query.offset) ?? 0,
        status: query == null ? void 0 : query.status,
        sort_by: query == null ? void 0 : query.sortBy,
        sort_order: query == null ? void 0 : query.sortOrder,
        select: (query == null ? void 0 : query.select) ?? void 0,
        values: (query == null ? void 0 : query.values) ?? void 0,
        extract: (query == null ? void 0 : query.extract) ?? void 0
      },
      signal: query == null ? void 0 : query.signal
    });
  }
  /**
  * Count threads matching filters.
  *
  * @param query.metadata Thread metadata to filter on.
  * @param query.values State values to filter on.
  * @param query.status Thread status to filter on.
  * @returns Number of threads matching the criteria.
  */
  async count(query) {
    return this.fetch(`/threads/count`, {
      method: "POST",
      json: {
        metadata: (query == null ? void 0 : query.metadata) ?? void 0,
        values: (query == null ? void 0 : query.values) ?? void 0,
        status: (query == null ? void 0 : query.status) ?? void 0
      },
      signal: query == null ? void 0 : query.signal
    });
  }
  /**
  * Get state for a thread.
  *
  * @param threadId ID of the thread.
  * @returns Thread state.
  */
  async getState(threadId, checkpoint, options) {
    if (checkpoint != null) {
      if (typeof checkpoint !== "string") return this.fetch(`/threads/${threadId}/state/checkpoint`, {
        method: "POST",
        json: {
          checkpoint,
          subgraphs: options == null ? void 0 : options.subgraphs
        },
        signal: options == null ? void 0 : options.signal
      });
      return this.fetch(`/threads/${threadId}/state/${checkpoint}`, {
        params: { subgraphs: options == null ? void 0 : options.subgraphs },
        signal: options == null ? void 0 : options.signal
      });
    }
    return this.fetch(`/threads/${threadId}/state`, {
      params: { subgraphs: options == null ? void 0 : options.subgraphs },
      signal: options == null ? void 0 : options.signal,
      dedupe: true
    });
  }
  /**
  * Add state to a thread.
  *
  * @param threadId The ID of the thread.
  * @returns
  */
  async updateState(threadId, options) {
    return this.fetch(`/threads/${threadId}/state`, {
      method: "POST",
      json: {
        values: options.values,
        checkpoint: options.checkpoint,
        checkpoint_id: options.checkpointId,
        as_node: options == null ? void 0 : options.asNode
      },
      signal: options == null ? void 0 : options.signal
    });
  }
  /**
  * Patch the metadata of a thread.
  *
  * @param threadIdOrConfig Thread ID or config to patch the state of.
  * @param metadata Metadata to patch the state with.
  */
  async patchState(threadIdOrConfig, metadata, options) {
    var _a17;
    let threadId;
    if (typeof threadIdOrConfig !== "string") {
      if (typeof ((_a17 = threadIdOrConfig.configurable) == null ? void 0 : _a17.thread_id) !== "string") throw new Error("Thread ID is required when updating state with a config.");
      threadId = threadIdOrConfig.configurable.thread_id;
    } else threadId = threadIdOrConfig;
    return this.fetch(`/threads/${threadId}/state`, {
      method: "PATCH",
      json: { metadata },
      signal: options == null ? void 0 : options.signal
    });
  }
  /**
  * Get all past states for a thread.
  *
  * @param threadId ID of the thread.
  * @param options Additional options.
  * @returns List of thread states.
  */
  async getHistory(threadId, options) {
    return this.fetch(`/threads/${threadId}/history`, {
      method: "POST",
      json: {
        limit: (options == null ? void 0 : options.limit) ?? 10,
        before: options == null ? void 0 : options.before,
        metadata: options == null ? void 0 : options.metadata,
        checkpoint: options == null ? void 0 : options.checkpoint
      },
      signal: options == null ? void 0 : options.signal,
      dedupe: true
    });
  }
  async *joinStream(threadId, options) {
    yield* this.streamWithRetry({
      endpoint: `/threads/${threadId}/stream`,
      method: "GET",
      signal: options == null ? void 0 : options.signal,
      headers: (options == null ? void 0 : options.lastEventId) ? { "Last-Event-ID": options.lastEventId } : void 0,
      params: (options == null ? void 0 : options.streamMode) ? { stream_mode: options.streamMode } : void 0
    });
  }
  stream(threadIdOrOptions, maybeOptions) {
    var _a17;
    const { threadId, options } = typeof threadIdOrOptions === "string" ? {
      threadId: threadIdOrOptions,
      options: maybeOptions
    } : threadIdOrOptions == null ? {
      threadId: v7(),
      options: maybeOptions
    } : {
      threadId: v7(),
      options: threadIdOrOptions
    };
    const userFetch = options.fetch;
    const protocolFetch = userFetch ?? this.asyncCaller.fetch.bind(this.asyncCaller);
    let transport;
    if (options.transport != null && typeof options.transport !== "string") {
      transport = options.transport;
      (_a17 = transport.setThreadId) == null ? void 0 : _a17.call(transport, threadId);
    } else {
      const transportKind = options.transport ?? (this.streamProtocol === "v2-websocket" ? "websocket" : "sse");
      const maxReconnectAttempts = options.maxReconnectAttempts ?? 5;
      const commonOpts = {
        apiUrl: this.apiUrl,
        threadId,
        defaultHeaders: this.defaultHeaders,
        onRequest: this.onRequest,
        maxReconnectAttempts,
        reconnectDelayMs: options.reconnectDelayMs,
        onReconnect: options.onReconnect,
        onConnected: options.onConnected
      };
      transport = transportKind === "websocket" ? new ProtocolWebSocketTransportAdapter({
        ...commonOpts,
        webSocketFactory: options.webSocketFactory
      }) : new ProtocolSseTransportAdapter({
        ...commonOpts,
        idleReconnect: options.streamIdleReconnect,
        fetch: userFetch,
        asyncCaller: userFetch ? void 0 : this.asyncCaller
      });
    }
    return new ThreadStream(transport, {
      ...options,
      fetch: protocolFetch
    });
  }
};

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/runs/index.js
var RunsClient = class extends BaseClient {
  /**
  * Create a run and stream the results.
  *
  * @param threadId The ID of the thread.
  * @param assistantId Assistant ID to use for this run.
  * @param payload Payload for creating a run.
  */
  async *stream(threadId, assistantId, payload) {
    const json = {
      input: payload == null ? void 0 : payload.input,
      command: payload == null ? void 0 : payload.command,
      config: payload == null ? void 0 : payload.config,
      context: payload == null ? void 0 : payload.context,
      metadata: payload == null ? void 0 : payload.metadata,
      stream_mode: payload == null ? void 0 : payload.streamMode,
      stream_subgraphs: payload == null ? void 0 : payload.streamSubgraphs,
      stream_resumable: payload == null ? void 0 : payload.streamResumable,
      feedback_keys: payload == null ? void 0 : payload.feedbackKeys,
      assistant_id: assistantId,
      interrupt_before: payload == null ? void 0 : payload.interruptBefore,
      interrupt_after: payload == null ? void 0 : payload.interruptAfter,
      checkpoint: payload == null ? void 0 : payload.checkpoint,
      checkpoint_id: payload == null ? void 0 : payload.checkpointId,
      webhook: payload == null ? void 0 : payload.webhook,
      multitask_strategy: payload == null ? void 0 : payload.multitaskStrategy,
      on_completion: payload == null ? void 0 : payload.onCompletion,
      on_disconnect: payload == null ? void 0 : payload.onDisconnect,
      after_seconds: payload == null ? void 0 : payload.afterSeconds,
      if_not_exists: payload == null ? void 0 : payload.ifNotExists,
      checkpoint_during: payload == null ? void 0 : payload.checkpointDuring,
      durability: payload == null ? void 0 : payload.durability
    };
    yield* this.streamWithRetry({
      endpoint: threadId == null ? `/runs/stream` : `/threads/${threadId}/runs/stream`,
      method: "POST",
      json,
      signal: payload == null ? void 0 : payload.signal,
      idleReconnect: payload == null ? void 0 : payload.streamIdleReconnect,
      onInitialResponse: (response) => {
        var _a17;
        const runMetadata = getRunMetadataFromResponse(response);
        if (runMetadata) (_a17 = payload == null ? void 0 : payload.onRunCreated) == null ? void 0 : _a17.call(payload, runMetadata);
      }
    });
  }
  /**
  * Create a run.
  *
  * @param threadId The ID of the thread.
  * @param assistantId Assistant ID to use for this run.
  * @param payload Payload for creating a run.
  * @returns The created run.
  */
  async create(threadId, assistantId, payload) {
    var _a17, _b, _c;
    const json = {
      input: payload == null ? void 0 : payload.input,
      command: payload == null ? void 0 : payload.command,
      config: payload == null ? void 0 : payload.config,
      context: payload == null ? void 0 : payload.context,
      metadata: payload == null ? void 0 : payload.metadata,
      stream_mode: payload == null ? void 0 : payload.streamMode,
      stream_subgraphs: payload == null ? void 0 : payload.streamSubgraphs,
      stream_resumable: payload == null ? void 0 : payload.streamResumable,
      feedback_keys: payload == null ? void 0 : payload.feedbackKeys,
      assistant_id: assistantId,
      interrupt_before: payload == null ? void 0 : payload.interruptBefore,
      interrupt_after: payload == null ? void 0 : payload.interruptAfter,
      webhook: payload == null ? void 0 : payload.webhook,
      checkpoint: payload == null ? void 0 : payload.checkpoint,
      checkpoint_id: payload == null ? void 0 : payload.checkpointId,
      multitask_strategy: payload == null ? void 0 : payload.multitaskStrategy,
      after_seconds: payload == null ? void 0 : payload.afterSeconds,
      if_not_exists: payload == null ? void 0 : payload.ifNotExists,
      checkpoint_during: payload == null ? void 0 : payload.checkpointDuring,
      durability: payload == null ? void 0 : payload.durability,
      on_completion: payload == null ? void 0 : payload.onCompletion,
      langsmith_tracer: (payload == null ? void 0 : payload._langsmithTracer) ? {
        project_name: (_a17 = payload == null ? void 0 : payload._langsmithTracer) == null ? void 0 : _a17.projectName,
        example_id: (_b = payload == null ? void 0 : payload._langsmithTracer) == null ? void 0 : _b.exampleId
      } : void 0
    };
    const endpoint = threadId === null ? "/runs" : `/threads/${threadId}/runs`;
    const [run, response] = await this.fetch(endpoint, {
      method: "POST",
      json,
      signal: payload == null ? void 0 : payload.signal,
      withResponse: true
    });
    const runMetadata = getRunMetadataFromResponse(response);
    if (runMetadata) (_c = payload == null ? void 0 : payload.onRunCreated) == null ? void 0 : _c.call(payload, runMetadata);
    return run;
  }
  /**
  * Create a batch of stateless background runs.
  *
  * @param payloads An array of payloads for creating runs.
  * @returns An array of created runs.
  */
  async createBatch(payloads, options) {
    const filteredPayloads = payloads.map((payload) => ({
      ...payload,
      assistant_id: payload.assistantId
    })).map((payload) => {
      return Object.fromEntries(Object.entries(payload).filter(([_, v]) => v !== void 0));
    });
    return this.fetch("/runs/batch", {
      method: "POST",
      json: filteredPayloads,
      signal: options == null ? void 0 : options.signal
    });
  }
  /**
  * Create a run and wait for it to complete.
  *
  * @param threadId The ID of the thread.
  * @param assistantId Assistant ID to use for this run.
  * @param payload Payload for creating a run.
  * @returns The last values chunk of the thread.
  */
  async wait(threadId, assistantId, payload) {
    var _a17, _b, _c, _d, _e;
    const json = {
      input: payload == null ? void 0 : payload.input,
      command: payload == null ? void 0 : payload.command,
      config: payload == null ? void 0 : payload.config,
      context: payload == null ? void 0 : payload.context,
      metadata: payload == null ? void 0 : payload.metadata,
      assistant_id: assistantId,
      interrupt_before: payload == null ? void 0 : payload.interruptBefore,
      interrupt_after: payload == null ? void 0 : payload.interruptAfter,
      checkpoint: payload == null ? void 0 : payload.checkpoint,
      checkpoint_id: payload == null ? void 0 : payload.checkpointId,
      webhook: payload == null ? void 0 : payload.webhook,
      multitask_strategy: payload == null ? void 0 : payload.multitaskStrategy,
      on_completion: payload == null ? void 0 : payload.onCompletion,
      on_disconnect: payload == null ? void 0 : payload.onDisconnect,
      after_seconds: payload == null ? void 0 : payload.afterSeconds,
      if_not_exists: payload == null ? void 0 : payload.ifNotExists,
      checkpoint_during: payload == null ? void 0 : payload.checkpointDuring,
      durability: payload == null ? void 0 : payload.durability,
      langsmith_tracer: (payload == null ? void 0 : payload._langsmithTracer) ? {
        project_name: (_a17 = payload == null ? void 0 : payload._langsmithTracer) == null ? void 0 : _a17.projectName,
        example_id: (_b = payload == null ? void 0 : payload._langsmithTracer) == null ? void 0 : _b.exampleId
      } : void 0
    };
    const endpoint = threadId == null ? `/runs/wait` : `/threads/${threadId}/runs/wait`;
    const [run, response] = await this.fetch(endpoint, {
      method: "POST",
      json,
      timeoutMs: null,
      signal: payload == null ? void 0 : payload.signal,
      withResponse: true
    });
    const runMetadata = getRunMetadataFromResponse(response);
    if (runMetadata) (_c = payload == null ? void 0 : payload.onRunCreated) == null ? void 0 : _c.call(payload, runMetadata);
    if (((payload == null ? void 0 : payload.raiseError) !== void 0 ? payload.raiseError : true) && "__error__" in run && typeof run.__error__ === "object" && run.__error__ && "error" in run.__error__ && "message" in run.__error__) throw new Error(`${(_d = run.__error__) == null ? void 0 : _d.error}: ${(_e = run.__error__) == null ? void 0 : _e.message}`);
    return run;
  }
  /**
  * List all runs for a thread.
  *
  * @param threadId The ID of the thread.
  * @param options Filtering and pagination options.
  * @returns List of runs.
  */
  async list(threadId, options) {
    return this.fetch(`/threads/${threadId}/runs`, {
      params: {
        limit: (options == null ? void 0 : options.limit) ?? 10,
        offset: (options == null ? void 0 : options.offset) ?? 0,
        status: (options == null ? void 0 : options.status) ?? void 0,
        select: (options == null ? void 0 : options.select) ?? void 0
      },
      signal: options == null ? void 0 : options.signal
    });
  }
  /**
  * Get a run by ID.
  *
  * @param threadId The ID of the thread.
  * @param runId The ID of the run.
  * @returns The run.
  */
  async get(threadId, runId, options) {
    return this.fetch(`/threads/${threadId}/runs/${runId}`, { signal: options == null ? void 0 : options.signal });
  }
  /**
  * Cancel a run.
  *
  * @param threadId The ID of the thread.
  * @param runId The ID of the run.
  * @param wait Whether to block when canceling
  * @param action Action to take when cancelling the run. Possible values are `interrupt` or `rollback`. Default is `interrupt`.
  * @returns
  */
  async cancel(threadId, runId, wait = false, action = "interrupt", options = {}) {
    return this.fetch(`/threads/${threadId}/runs/${runId}/cancel`, {
      method: "POST",
      params: {
        wait: wait ? "1" : "0",
        action
      },
      signal: options == null ? void 0 : options.signal
    });
  }
  /**
  * Cancel one or more runs.
  *
  * @param options Options for cancelling runs.
  * @returns
  */
  async cancelMany(options) {
    return this.fetch(`/runs/cancel`, {
      method: "POST",
      json: {
        thread_id: options.threadId,
        run_ids: options.runIds,
        status: options.status
      },
      params: { action: options.action },
      signal: options.signal
    });
  }
  /**
  * Block until a run is done.
  *
  * @param threadId The ID of the thread.
  * @param runId The ID of the run.
  * @returns
  */
  async join(threadId, runId, options) {
    return this.fetch(`/threads/${threadId}/runs/${runId}/join`, {
      timeoutMs: null,
      params: { cancel_on_disconnect: (options == null ? void 0 : options.cancelOnDisconnect) ? "1" : "0" },
      signal: options == null ? void 0 : options.signal
    });
  }
  /**
  * Stream output from a run in real-time, until the run is done.
  *
  * @param threadId The ID of the thread.
  * @param runId The ID of the run.
  * @param options Additional options for controlling the stream behavior.
  * @returns An async generator yielding stream parts.
  */
  async *joinStream(threadId, runId, options) {
    const opts = typeof options === "object" && options != null && options instanceof AbortSignal ? { signal: options } : options;
    yield* this.streamWithRetry({
      endpoint: threadId != null ? `/threads/${threadId}/runs/${runId}/stream` : `/runs/${runId}/stream`,
      method: "GET",
      signal: opts == null ? void 0 : opts.signal,
      idleReconnect: opts == null ? void 0 : opts.streamIdleReconnect,
      headers: (opts == null ? void 0 : opts.lastEventId) ? { "Last-Event-ID": opts.lastEventId } : void 0,
      params: {
        cancel_on_disconnect: (opts == null ? void 0 : opts.cancelOnDisconnect) ? "1" : "0",
        stream_mode: opts == null ? void 0 : opts.streamMode
      }
    });
  }
  /**
  * Delete a run.
  *
  * @param threadId The ID of the thread.
  * @param runId The ID of the run.
  * @returns
  */
  async delete(threadId, runId, options) {
    return this.fetch(`/threads/${threadId}/runs/${runId}`, {
      method: "DELETE",
      signal: options == null ? void 0 : options.signal
    });
  }
};

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/crons/index.js
var CronsClient = class extends BaseClient {
  /**
  *
  * @param threadId The ID of the thread.
  * @param assistantId Assistant ID to use for this cron job.
  * @param payload Payload for creating a cron job.
  * @returns The created background run.
  */
  async createForThread(threadId, assistantId, payload) {
    const json = {
      schedule: payload == null ? void 0 : payload.schedule,
      input: payload == null ? void 0 : payload.input,
      config: payload == null ? void 0 : payload.config,
      context: payload == null ? void 0 : payload.context,
      metadata: payload == null ? void 0 : payload.metadata,
      assistant_id: assistantId,
      interrupt_before: payload == null ? void 0 : payload.interruptBefore,
      interrupt_after: payload == null ? void 0 : payload.interruptAfter,
      webhook: payload == null ? void 0 : payload.webhook,
      multitask_strategy: payload == null ? void 0 : payload.multitaskStrategy,
      checkpoint_during: payload == null ? void 0 : payload.checkpointDuring,
      durability: payload == null ? void 0 : payload.durability,
      enabled: payload == null ? void 0 : payload.enabled,
      timezone: payload == null ? void 0 : payload.timezone,
      stream_mode: payload == null ? void 0 : payload.streamMode,
      stream_subgraphs: payload == null ? void 0 : payload.streamSubgraphs,
      stream_resumable: payload == null ? void 0 : payload.streamResumable,
      end_time: payload == null ? void 0 : payload.endTime,
      on_run_completed: payload == null ? void 0 : payload.onRunCompleted
    };
    return this.fetch(`/threads/${threadId}/runs/crons`, {
      method: "POST",
      json,
      signal: payload == null ? void 0 : payload.signal
    });
  }
  /**
  *
  * @param assistantId Assistant ID to use for this cron job.
  * @param payload Payload for creating a cron job.
  * @returns
  */
  async create(assistantId, payload) {
    const json = {
      schedule: payload == null ? void 0 : payload.schedule,
      input: payload == null ? void 0 : payload.input,
      config: payload == null ? void 0 : payload.config,
      context: payload == null ? void 0 : payload.context,
      metadata: payload == null ? void 0 : payload.metadata,
      assistant_id: assistantId,
      interrupt_before: payload == null ? void 0 : payload.interruptBefore,
      interrupt_after: payload == null ? void 0 : payload.interruptAfter,
      webhook: payload == null ? void 0 : payload.webhook,
      on_run_completed: payload == null ? void 0 : payload.onRunCompleted,
      multitask_strategy: payload == null ? void 0 : payload.multitaskStrategy,
      checkpoint_during: payload == null ? void 0 : payload.checkpointDuring,
      durability: payload == null ? void 0 : payload.durability,
      enabled: payload == null ? void 0 : payload.enabled,
      timezone: payload == null ? void 0 : payload.timezone,
      stream_mode: payload == null ? void 0 : payload.streamMode,
      stream_subgraphs: payload == null ? void 0 : payload.streamSubgraphs,
      stream_resumable: payload == null ? void 0 : payload.streamResumable,
      end_time: payload == null ? void 0 : payload.endTime
    };
    return this.fetch(`/runs/crons`, {
      method: "POST",
      json,
      signal: payload == null ? void 0 : payload.signal
    });
  }
  /**
  * Update a cron job by ID.
  *
  * @param cronId The cron ID to update.
  * @param payload Payload for updating a cron job.
  * @returns The updated cron job.
  * ```
  */
  async update(cronId, payload) {
    const json = {
      schedule: payload == null ? void 0 : payload.schedule,
      timezone: payload == null ? void 0 : payload.timezone,
      end_time: payload == null ? void 0 : payload.endTime,
      input: payload == null ? void 0 : payload.input,
      metadata: payload == null ? void 0 : payload.metadata,
      config: payload == null ? void 0 : payload.config,
      context: payload == null ? void 0 : payload.context,
      webhook: payload == null ? void 0 : payload.webhook,
      interrupt_before: payload == null ? void 0 : payload.interruptBefore,
      interrupt_after: payload == null ? void 0 : payload.interruptAfter,
      on_run_completed: payload == null ? void 0 : payload.onRunCompleted,
      enabled: payload == null ? void 0 : payload.enabled,
      stream_mode: payload == null ? void 0 : payload.streamMode,
      stream_subgraphs: payload == null ? void 0 : payload.streamSubgraphs,
      stream_resumable: payload == null ? void 0 : payload.streamResumable,
      durability: payload == null ? void 0 : payload.durability
    };
    return this.fetch(`/runs/crons/${cronId}`, {
      method: "PATCH",
      json,
      signal: payload == null ? void 0 : payload.signal
    });
  }
  /**
  * Delete a cron job by ID.
  *
  * @param cronId Cron ID of Cron job to delete.
  * @param options Optional parameters for the request.
  */
  async delete(cronId, options) {
    await this.fetch(`/runs/crons/${cronId}`, {
      method: "DELETE",
      signal: options == null ? void 0 : options.signal
    });
  }
  /**
  *
  * @param query Query options.
  * @param query.metadata Metadata to filter by. Exact match filter for each KV pair.
  *   Available in Agent Server version 0.9.0 and later.
  * @returns List of crons.
  */
  async search(query) {
    return this.fetch("/runs/crons/search", {
      method: "POST",
      json: {
        assistant_id: (query == null ? void 0 : query.assistantId) ?? void 0,
        thread_id: (query == null ? void 0 : query.threadId) ?? void 0,
        enabled: (query == null ? void 0 : query.enabled) ?? void 0,
        limit: (query == null ? void 0 : query.limit) ?? 10,
        offset: (query == null ? void 0 : query.offset) ?? 0,
        sort_by: (query == null ? void 0 : query.sortBy) ?? void 0,
        sort_order: (query == null ? void 0 : query.sortOrder) ?? void 0,
        select: (query == null ? void 0 : query.select) ?? void 0,
        metadata: (query == null ? void 0 : query.metadata) ?? void 0
      },
      signal: query == null ? void 0 : query.signal
    });
  }
  /**
  * Count cron jobs matching filters.
  *
  * @param query.assistantId Assistant ID to filter by.
  * @param query.threadId Thread ID to filter by.
  * @param query.metadata Metadata to filter by. Exact match filter for each KV pair.
  *   Available in Agent Server version 0.9.0 and later.
  * @returns Number of cron jobs matching the criteria.
  */
  async count(query) {
    return this.fetch(`/runs/crons/count`, {
      method: "POST",
      json: {
        assistant_id: (query == null ? void 0 : query.assistantId) ?? void 0,
        thread_id: (query == null ? void 0 : query.threadId) ?? void 0,
        metadata: (query == null ? void 0 : query.metadata) ?? void 0
      },
      signal: query == null ? void 0 : query.signal
    });
  }
};

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/store/index.js
var StoreClient = class extends BaseClient {
  /**
  * Store or update an item.
  *
  * @param namespace A list of strings representing the namespace path.
  * @param key The unique identifier for the item within the namespace.
  * @param value A dictionary containing the item's data.
  * @param options.index Controls search indexing - null (use defaults), false (disable), or list of field paths to index.
  * @param options.ttl Optional time-to-live in minutes for the item, or null for no expiration.
  * @returns Promise<void>
  */
  async putItem(namespace, key, value, options) {
    namespace.forEach((label) => {
      if (label.includes(".")) throw new Error(`Invalid namespace label '${label}'. Namespace labels cannot contain periods ('.')`);
    });
    const payload = {
      namespace,
      key,
      value,
      index: options == null ? void 0 : options.index,
      ttl: options == null ? void 0 : options.ttl
    };
    return this.fetch("/store/items", {
      method: "PUT",
      json: payload,
      signal: options == null ? void 0 : options.signal
    });
  }
  /**
  * Retrieve a single item.
  *
  * @param namespace A list of strings representing the namespace path.
  * @param key The unique identifier for the item.
  * @param options.refreshTtl Whether to refresh the TTL on this read operation.
  * @returns Promise<Item>
  */
  async getItem(namespace, key, options) {
    namespace.forEach((label) => {
      if (label.includes(".")) throw new Error(`Invalid namespace label '${label}'. Namespace labels cannot contain periods ('.')`);
    });
    const params = {
      namespace: namespace.join("."),
      key
    };
    if ((options == null ? void 0 : options.refreshTtl) !== void 0) params.refresh_ttl = options.refreshTtl;
    const response = await this.fetch("/store/items", {
      params,
      signal: options == null ? void 0 : options.signal
    });
    return response ? {
      ...response,
      createdAt: response.created_at,
      updatedAt: response.updated_at
    } : null;
  }
  /**
  * Delete an item.
  *
  * @param namespace A list of strings representing the namespace path.
  * @param key The unique identifier for the item.
  * @returns Promise<void>
  */
  async deleteItem(namespace, key, options) {
    namespace.forEach((label) => {
      if (label.includes(".")) throw new Error(`Invalid namespace label '${label}'. Namespace labels cannot contain periods ('.')`);
    });
    return this.fetch("/store/items", {
      method: "DELETE",
      json: {
        namespace,
        key
      },
      signal: options == null ? void 0 : options.signal
    });
  }
  /**
  * Search for items within a namespace prefix.
  *
  * @param namespacePrefix List of strings representing the namespace prefix.
  * @param options Search options including filter, pagination, and query.
  * @returns Promise<SearchItemsResponse>
  */
  async searchItems(namespacePrefix, options) {
    const payload = {
      namespace_prefix: namespacePrefix,
      filter: options == null ? void 0 : options.filter,
      limit: (options == null ? void 0 : options.limit) ?? 10,
      offset: (options == null ? void 0 : options.offset) ?? 0,
      query: options == null ? void 0 : options.query,
      refresh_ttl: options == null ? void 0 : options.refreshTtl
    };
    return { items: (await this.fetch("/store/items/search", {
      method: "POST",
      json: payload,
      signal: options == null ? void 0 : options.signal
    })).items.map((item) => ({
      ...item,
      createdAt: item.created_at,
      updatedAt: item.updated_at
    })) };
  }
  /**
  * List namespaces with optional match conditions.
  *
  * @param options Filtering and pagination options for namespaces.
  * @returns Promise<ListNamespaceResponse>
  */
  async listNamespaces(options) {
    const payload = {
      prefix: options == null ? void 0 : options.prefix,
      suffix: options == null ? void 0 : options.suffix,
      max_depth: options == null ? void 0 : options.maxDepth,
      limit: (options == null ? void 0 : options.limit) ?? 100,
      offset: (options == null ? void 0 : options.offset) ?? 0
    };
    return this.fetch("/store/namespaces", {
      method: "POST",
      json: payload,
      signal: options == null ? void 0 : options.signal
    });
  }
};

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/ui-internal/index.js
var _a7;
var UiClient = (_a7 = class extends BaseClient {
  static getOrCached(key, fn) {
    if (_a7.promiseCache[key] != null) return _a7.promiseCache[key];
    const promise = fn();
    _a7.promiseCache[key] = promise;
    return promise;
  }
  async getComponent(assistantId, agentName) {
    return _a7.getOrCached(`${this.apiUrl}-${assistantId}-${agentName}`, async () => {
      let [url, init] = this.prepareFetchOptions(`/ui/${assistantId}`, {
        headers: {
          Accept: "text/html",
          "Content-Type": "application/json"
        },
        method: "POST",
        json: { name: agentName }
      });
      if (this.onRequest != null) init = await this.onRequest(url, init);
      return (await this.asyncCaller.fetch(url.toString(), init)).text();
    });
  }
}, __publicField(_a7, "promiseCache", {}), _a7);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/resolve-client-api-url.js
function resolveClientApiUrl(options) {
  if (options.apiUrl != null) return options.apiUrl;
  const { transport } = options;
  if (transport != null && typeof transport === "object") {
    const candidate = transport.apiUrl;
    if (typeof candidate === "string") return candidate;
  }
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/index.js
var Client = class {
  constructor(config) {
    /**
    * The client for interacting with assistants.
    */
    __publicField(this, "assistants");
    /**
    * The client for interacting with threads.
    */
    __publicField(this, "threads");
    /**
    * The client for interacting with runs.
    */
    __publicField(this, "runs");
    /**
    * The client for interacting with cron runs.
    */
    __publicField(this, "crons");
    /**
    * The client for interacting with the KV store.
    */
    __publicField(this, "store");
    /**
    * The client for interacting with the UI.
    * @internal Used by LoadExternalComponent and the API might change in the future.
    */
    __publicField(this, "~ui");
    /**
    * @internal Used to obtain a stable key representing the client.
    */
    __publicField(this, "~configHash");
    var _a17, _b, _c, _d;
    this["~configHash"] = JSON.stringify({
      apiUrl: config == null ? void 0 : config.apiUrl,
      apiKey: config == null ? void 0 : config.apiKey,
      timeoutMs: config == null ? void 0 : config.timeoutMs,
      defaultHeaders: config == null ? void 0 : config.defaultHeaders,
      streamProtocol: config == null ? void 0 : config.streamProtocol,
      maxConcurrency: (_a17 = config == null ? void 0 : config.callerOptions) == null ? void 0 : _a17.maxConcurrency,
      maxRetries: (_b = config == null ? void 0 : config.callerOptions) == null ? void 0 : _b.maxRetries,
      callbacks: {
        onFailedResponseHook: ((_c = config == null ? void 0 : config.callerOptions) == null ? void 0 : _c.onFailedResponseHook) != null,
        onRequest: (config == null ? void 0 : config.onRequest) != null,
        fetch: ((_d = config == null ? void 0 : config.callerOptions) == null ? void 0 : _d.fetch) != null
      }
    });
    this.assistants = new AssistantsClient(config);
    this.threads = new ThreadsClient(config);
    this.runs = new RunsClient(config);
    this.crons = new CronsClient(config);
    this.store = new StoreClient(config);
    this["~ui"] = new UiClient(config);
  }
};

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/store.js
var _snapshot, _listeners, _a8;
var StreamStore = (_a8 = class {
  constructor(initial) {
    __privateAdd(this, _snapshot);
    __privateAdd(this, _listeners, /* @__PURE__ */ new Set());
    __publicField(this, "subscribe", (listener) => {
      __privateGet(this, _listeners).add(listener);
      return () => {
        __privateGet(this, _listeners).delete(listener);
      };
    });
    __publicField(this, "getSnapshot", () => __privateGet(this, _snapshot));
    /** Replace the snapshot and notify every listener. */
    __publicField(this, "setValue", (next) => {
      if (Object.is(next, __privateGet(this, _snapshot))) return;
      __privateSet(this, _snapshot, next);
      for (const listener of __privateGet(this, _listeners)) listener();
    });
    /**
    * Functional update. The `updater` receives the current snapshot and
    * MUST return a new object. Returning the same reference is a no-op.
    */
    __publicField(this, "setState", (updater) => {
      this.setValue(updater(__privateGet(this, _snapshot)));
    });
    __privateSet(this, _snapshot, initial);
  }
}, _snapshot = new WeakMap(), _listeners = new WeakMap(), _a8);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/channel-registry.js
var _thread, _rootBus, _entries, _a9;
var ChannelRegistry = (_a9 = class {
  /**
  * Construct a registry bound to the controller's root event bus.
  *
  * The bus is forwarded to every projection's `open()` so root-scoped
  * projections can avoid opening a second server subscription when
  * their channel set is already covered by the root pump.
  *
  * @param rootBus - Read-only fan-out of the root subscription.
  */
  constructor(rootBus) {
    /** Currently bound thread, or `undefined` while detached. */
    __privateAdd(this, _thread);
    /** Read-only fan-out of the controller's root subscription. */
    __privateAdd(this, _rootBus);
    /** All live entries, keyed by `spec.key`. */
    __privateAdd(this, _entries, /* @__PURE__ */ new Map());
    __privateSet(this, _rootBus, rootBus);
  }
  /**
  * Rebind every live entry to a new {@link ThreadStream} (or detach
  * when `thread == null`).
  *
  * Each live entry has its current runtime disposed (best-effort)
  * and its store reset to `entry.initial` so consumers see a clean
  * slate during the swap. When `thread != null`, a fresh runtime is
  * opened against the new thread.
  *
  * Critically the {@link StreamStore} *instance* is preserved across
  * the rebind: framework subscribers (e.g. React's
  * `useSyncExternalStore`) keep observing the same store reference,
  * so their subscriptions survive the swap.
  *
  * No-op when called with the currently bound thread.
  *
  * @param thread - The thread stream to bind, or `undefined` to detach.
  */
  bind(thread) {
    if (__privateGet(this, _thread) === thread) return;
    const previous = __privateGet(this, _thread);
    __privateSet(this, _thread, thread);
    for (const entry of __privateGet(this, _entries).values()) {
      if (entry.runtime != null && previous != null) tryDispose(entry.runtime);
      entry.runtime = void 0;
      entry.store.setValue(entry.initial);
      if (thread != null) entry.runtime = entry.open({
        thread,
        store: entry.store,
        rootBus: __privateGet(this, _rootBus)
      });
    }
  }
  /** Currently bound thread (may be `undefined` pre-mount). */
  get thread() {
    return __privateGet(this, _thread);
  }
  /**
  * Acquire a ref-counted projection.
  *
  * If no entry exists for `spec.key`, one is created (allocating a
  * {@link StreamStore} seeded with `spec.initial`) and — when a
  * thread is currently bound — its runtime is opened immediately.
  * If an entry already exists, its ref count is incremented and the
  * existing store is returned.
  *
  * The returned `release()` is idempotent: calling it more than once
  * is a no-op. When the ref count drops to zero, the entry is removed
  * and its runtime disposed (best-effort, never throws into callers).
  *
  * Safe to call from any framework lifecycle hook. Subsequent calls
  * for the same `spec.key` always return the same `store` reference
  * for the lifetime of the controller, so consumers can rely on store
  * identity.
  *
  * @typeParam T - Snapshot type produced by this projection.
  * @param spec - Projection contract; the registry keys off `spec.key`.
  * @returns A `{ store, release }` handle.
  */
  acquire(spec) {
    let entry = __privateGet(this, _entries).get(spec.key);
    if (entry == null) {
      const store = new StreamStore(spec.initial);
      const newEntry = {
        key: spec.key,
        store,
        initial: spec.initial,
        open: spec.open,
        refCount: 0,
        runtime: void 0,
        pendingDispose: void 0
      };
      if (__privateGet(this, _thread) != null) newEntry.runtime = spec.open({
        thread: __privateGet(this, _thread),
        store,
        rootBus: __privateGet(this, _rootBus)
      });
      __privateGet(this, _entries).set(spec.key, newEntry);
      entry = newEntry;
    }
    entry.pendingDispose = void 0;
    entry.refCount += 1;
    let released = false;
    return {
      store: entry.store,
      release: () => {
        if (released) return;
        released = true;
        const current = __privateGet(this, _entries).get(spec.key);
        if (current == null) return;
        current.refCount -= 1;
        if (current.refCount <= 0) {
          current.refCount = 0;
          const token = {};
          current.pendingDispose = token;
          queueMicrotask(() => {
            const latest = __privateGet(this, _entries).get(spec.key);
            if (latest == null || latest !== current || latest.pendingDispose !== token || latest.refCount > 0) return;
            __privateGet(this, _entries).delete(spec.key);
            latest.pendingDispose = void 0;
            if (latest.runtime != null) tryDispose(latest.runtime);
          });
        }
      }
    };
  }
  /**
  * Tear everything down.
  *
  * Detaches the bound thread (so no further `bind()` calls reopen
  * runtimes) and disposes every live runtime in parallel. Safe to
  * call multiple times — subsequent calls find an empty registry
  * and resolve immediately.
  */
  async dispose() {
    __privateSet(this, _thread, void 0);
    const entries = [...__privateGet(this, _entries).values()];
    __privateGet(this, _entries).clear();
    await Promise.all(entries.map(async (entry) => {
      if (entry.runtime != null) await tryDispose(entry.runtime);
    }));
  }
  /**
  * Number of actively-held entries. Diagnostic-only — callers should
  * not branch on this value at runtime; it exists for tests asserting
  * that consumers properly release their projections. Entries waiting
  * on cancellable microtask disposal do not count as active.
  */
  get size() {
    let count = 0;
    for (const entry of __privateGet(this, _entries).values()) if (entry.refCount > 0) count += 1;
    return count;
  }
}, _thread = new WeakMap(), _rootBus = new WeakMap(), _entries = new WeakMap(), _a9);
async function tryDispose(runtime) {
  try {
    await runtime.dispose();
  } catch {
  }
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/namespace.js
function namespaceKey2(namespace) {
  return namespace.join("\0");
}
function isRootNamespace(namespace) {
  return namespace.length === 0;
}
function isToolNamespaceSegment(segment) {
  return segment.startsWith("tools:");
}
function isTaskNamespaceSegment(segment) {
  return segment.startsWith("task:");
}
function isInternalWorkNamespace(namespace) {
  return namespace.some((segment) => isTaskNamespaceSegment(segment) || isToolNamespaceSegment(segment));
}
function isLegacySubagentNamespace(namespace) {
  return namespace.some(isTaskNamespaceSegment);
}
function isConcreteToolNamespace(namespace) {
  const last = namespace.at(-1);
  return last != null && isToolNamespaceSegment(last);
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/discovery/subagents.js
var EMPTY_SUBAGENT_MAP = /* @__PURE__ */ new Map();
var _map, _taskIdByObservedNamespace, _observedOwnNamespaces, _toolCallIdByTaskInput, _SubagentDiscovery_instances, commit_fn, onToolEvent_fn, onValuesEvent_fn, upsertTaskToolCall_fn, recordObservedWorkNamespace_fn, recordTaskNamespaceCandidate_fn, bindNamespaceByTaskInput_fn, _a10;
var SubagentDiscovery = (_a10 = class {
  constructor() {
    __privateAdd(this, _SubagentDiscovery_instances);
    __publicField(this, "store", new StreamStore(/* @__PURE__ */ new Map()));
    __privateAdd(this, _map, /* @__PURE__ */ new Map());
    __privateAdd(this, _taskIdByObservedNamespace, /* @__PURE__ */ new Map());
    __privateAdd(this, _observedOwnNamespaces, /* @__PURE__ */ new Set());
    __privateAdd(this, _toolCallIdByTaskInput, /* @__PURE__ */ new Map());
  }
  /** Feed a single root event. Non-discovery events are ignored. */
  push(event) {
    if (event.method === "tools") __privateMethod(this, _SubagentDiscovery_instances, onToolEvent_fn).call(this, event);
    else if (event.method === "values") __privateMethod(this, _SubagentDiscovery_instances, onValuesEvent_fn).call(this, event);
  }
  /**
  * Seed discovery from a checkpoint's root `messages` array (as
  * returned by `client.threads.getState().values.messages`) so deep
  * agent cards render on thread refresh without waiting for SSE
  * replay.
  *
  * Drives the existing root `values` path via a synthetic event so it
  * reuses task discovery + completion marking with no new parsing
  * logic. Root namespace `[]` keeps namespaces at the default
  * `tools:<toolCallId>`; the always-on root pump (and {@link
  * applyExecutionNamespace}) promote them to the execution namespace
  * later. Idempotent by construction: re-driving root values for
  * already-discovered tasks is a no-op (the FIFO `taskInput` queue is
  * only populated on first discovery), so no `snapshot.size` guard is
  * needed.
  */
  seedFromCheckpointMessages(messages) {
    if (!Array.isArray(messages) || messages.length === 0) return;
    this.push({
      type: "event",
      method: "values",
      params: {
        namespace: [],
        timestamp: Date.now(),
        data: { messages }
      }
    });
  }
  /**
  * Promote a discovered subagent to its execution namespace, derived
  * from checkpoint history (see `namespace-from-history`).
  *
  * Routes through the same guarded promotion machinery the live SSE
  * replay uses ({@link #recordTaskNamespaceCandidate} + the
  * `#observedOwnNamespaces` no-demote rule) so a getHistory-derived
  * namespace and an SSE-derived one cannot disagree. A no-op when the
  * subagent is unknown or already sits on the target namespace.
  *
  * @param toolCallId - Parent `task` tool-call id (the subagent's discovery key).
  * @param executionSegment - Single execution namespace segment, e.g. `tools:<uuid>`.
  */
  applyExecutionNamespace(toolCallId, executionSegment) {
    if (typeof executionSegment !== "string" || executionSegment.length === 0) return;
    const entry = __privateGet(this, _map).get(toolCallId);
    if (entry == null) return;
    const namespace = [executionSegment];
    const namespaceKeyed = namespaceKey2(namespace);
    const ownNamespaceKey = `tools:${toolCallId}`;
    __privateMethod(this, _SubagentDiscovery_instances, recordTaskNamespaceCandidate_fn).call(this, toolCallId, namespace);
    if (namespaceKeyed !== ownNamespaceKey && __privateGet(this, _observedOwnNamespaces).has(toolCallId)) return;
    if (namespaceKey2(entry.namespace) === namespaceKeyed) return;
    entry.namespace = namespace;
    __privateMethod(this, _SubagentDiscovery_instances, commit_fn).call(this);
  }
  /** Current snapshot map. */
  get snapshot() {
    return this.store.getSnapshot();
  }
  /**
  * Drop all discovery state. Called on thread rebind / dispose so a
  * new thread's subagents cannot bleed into the previous UI.
  */
  reset() {
    __privateGet(this, _map).clear();
    __privateGet(this, _taskIdByObservedNamespace).clear();
    __privateGet(this, _observedOwnNamespaces).clear();
    __privateGet(this, _toolCallIdByTaskInput).clear();
    this.store.setValue(EMPTY_SUBAGENT_MAP);
  }
  discoverFromMessage(message, namespace) {
    let changed = false;
    for (const toolCall of getTaskToolCalls(message)) changed = __privateMethod(this, _SubagentDiscovery_instances, upsertTaskToolCall_fn).call(this, toolCall.id, toolCall.input, namespace) || changed;
    if (changed) __privateMethod(this, _SubagentDiscovery_instances, commit_fn).call(this);
  }
}, _map = new WeakMap(), _taskIdByObservedNamespace = new WeakMap(), _observedOwnNamespaces = new WeakMap(), _toolCallIdByTaskInput = new WeakMap(), _SubagentDiscovery_instances = new WeakSet(), commit_fn = function() {
  this.store.setValue(new Map([...__privateGet(this, _map).values()].map((entry) => [entry.id, toSnapshot(entry)])));
}, onToolEvent_fn = function(event) {
  const data = event.params.data;
  const toolCallId = data.tool_call_id;
  const toolName = data.tool_name;
  if (data.event === "tool-started" && toolName === "task") {
    const input = parseTaskInput(data.input);
    if (toolCallId == null) return;
    __privateMethod(this, _SubagentDiscovery_instances, upsertTaskToolCall_fn).call(this, toolCallId, input, event.params.namespace);
    __privateMethod(this, _SubagentDiscovery_instances, commit_fn).call(this);
    return;
  }
  if (toolCallId == null) return;
  const entry = __privateGet(this, _map).get(toolCallId);
  if (entry == null) return;
  if (data.event === "tool-finished") {
    entry.status = "complete";
    entry.output = data.output;
    entry.completedAt = /* @__PURE__ */ new Date();
    __privateMethod(this, _SubagentDiscovery_instances, commit_fn).call(this);
    return;
  }
  if (data.event === "tool-error") {
    entry.status = "error";
    entry.error = data.message ?? "Subagent failed";
    entry.completedAt = /* @__PURE__ */ new Date();
    __privateMethod(this, _SubagentDiscovery_instances, commit_fn).call(this);
  }
}, onValuesEvent_fn = function(event) {
  const data = event.params.data;
  if (data == null || typeof data !== "object" || Array.isArray(data)) return;
  const messages = data.messages;
  if (!Array.isArray(messages)) return;
  __privateMethod(this, _SubagentDiscovery_instances, bindNamespaceByTaskInput_fn).call(this, event.params.namespace, messages);
  let changed = __privateMethod(this, _SubagentDiscovery_instances, recordObservedWorkNamespace_fn).call(this, event.params.namespace);
  for (const message of messages) {
    for (const toolCall of getTaskToolCalls(message)) changed = __privateMethod(this, _SubagentDiscovery_instances, upsertTaskToolCall_fn).call(this, toolCall.id, toolCall.input, event.params.namespace) || changed;
    const toolCallId = getToolMessageCallId(message);
    if (toolCallId == null) continue;
    const existing = __privateGet(this, _map).get(toolCallId);
    if (existing == null) continue;
    existing.status = "complete";
    existing.output = message;
    existing.completedAt = /* @__PURE__ */ new Date();
    changed = true;
  }
  if (changed) __privateMethod(this, _SubagentDiscovery_instances, commit_fn).call(this);
}, upsertTaskToolCall_fn = function(toolCallId, input, eventNamespace) {
  const namespace = taskWorkNamespace(toolCallId, eventNamespace);
  const existing = __privateGet(this, _map).get(toolCallId);
  if (existing != null) {
    let changed = false;
    __privateMethod(this, _SubagentDiscovery_instances, recordTaskNamespaceCandidate_fn).call(this, toolCallId, eventNamespace);
    const nextName = input.subagent_type ?? existing.name;
    const nextTaskInput = input.description ?? existing.taskInput;
    if (existing.name !== nextName) {
      existing.name = nextName;
      changed = true;
    }
    if (existing.taskInput !== nextTaskInput) {
      existing.taskInput = nextTaskInput;
      changed = true;
    }
    const namespaceKeyed = namespaceKey2(existing.namespace);
    const ownNamespaceKey = `tools:${toolCallId}`;
    const nextNamespaceKey = namespaceKey2(namespace);
    if (isConcreteToolNamespace(eventNamespace) || namespaceKeyed === ownNamespaceKey) {
      if (namespaceKeyed === ownNamespaceKey && nextNamespaceKey !== ownNamespaceKey && __privateGet(this, _observedOwnNamespaces).has(toolCallId)) return changed;
      if (namespaceKeyed !== nextNamespaceKey) {
        existing.namespace = namespace;
        changed = true;
      }
    }
    if (existing.status !== "complete" && existing.status !== "error") {
      if (existing.status !== "running") {
        existing.status = "running";
        changed = true;
      }
    }
    return changed;
  }
  const { parentId, depth } = lineageFromNamespace(eventNamespace);
  __privateMethod(this, _SubagentDiscovery_instances, recordTaskNamespaceCandidate_fn).call(this, toolCallId, eventNamespace);
  if (input.description != null) {
    const queue = __privateGet(this, _toolCallIdByTaskInput).get(input.description) ?? [];
    queue.push(toolCallId);
    __privateGet(this, _toolCallIdByTaskInput).set(input.description, queue);
  }
  __privateGet(this, _map).set(toolCallId, {
    id: toolCallId,
    name: input.subagent_type ?? "unknown",
    namespace,
    parentId,
    depth,
    status: "running",
    taskInput: input.description,
    output: void 0,
    error: void 0,
    startedAt: /* @__PURE__ */ new Date(),
    completedAt: null
  });
  return true;
}, recordObservedWorkNamespace_fn = function(namespace) {
  if (!isConcreteToolNamespace(namespace)) return false;
  const last = namespace.at(-1);
  if (last == null) return false;
  const namespaceKeyed = namespaceKey2(namespace);
  const toolCallId = __privateGet(this, _taskIdByObservedNamespace).get(namespaceKeyed) ?? last.slice(6);
  const existing = __privateGet(this, _map).get(toolCallId);
  if (existing == null) return false;
  if (namespaceKeyed === `tools:${toolCallId}`) __privateGet(this, _observedOwnNamespaces).add(toolCallId);
  else if (__privateGet(this, _observedOwnNamespaces).has(toolCallId) || !__privateGet(this, _taskIdByObservedNamespace).has(namespaceKeyed) && !shouldPromoteToObservedNamespace(existing)) return false;
  if (namespaceKey2(existing.namespace) === namespaceKeyed) return false;
  existing.namespace = [...namespace];
  return true;
}, recordTaskNamespaceCandidate_fn = function(toolCallId, namespace) {
  if (!isConcreteToolNamespace(namespace)) return;
  __privateGet(this, _taskIdByObservedNamespace).set(namespaceKey2(namespace), toolCallId);
}, /**
* Bind a `tools:<id>` namespace to a registered subagent by looking
* up the first HumanMessage content in the `taskInput` index.
*/
bindNamespaceByTaskInput_fn = function(namespace, messages) {
  var _a17;
  if (!isConcreteToolNamespace(namespace)) return;
  const namespaceKeyed = namespaceKey2(namespace);
  if (__privateGet(this, _taskIdByObservedNamespace).has(namespaceKeyed)) return;
  const text = getFirstHumanMessageText(messages);
  if (text == null) return;
  const toolCallId = (_a17 = __privateGet(this, _toolCallIdByTaskInput).get(text)) == null ? void 0 : _a17.shift();
  if (toolCallId == null) return;
  __privateGet(this, _taskIdByObservedNamespace).set(namespaceKeyed, toolCallId);
}, _a10);
function getFirstHumanMessageText(messages) {
  var _a17, _b, _c, _d;
  for (const message of messages) {
    if (message == null || typeof message !== "object") continue;
    const record = message;
    if ((record.type ?? record.role ?? ((_a17 = record.kwargs) == null ? void 0 : _a17.type) ?? ((_b = record.lc_kwargs) == null ? void 0 : _b.type)) !== "human") continue;
    const content = record.content ?? ((_c = record.kwargs) == null ? void 0 : _c.content) ?? ((_d = record.lc_kwargs) == null ? void 0 : _d.content);
    return typeof content === "string" && content.length > 0 ? content : null;
  }
  return null;
}
function shouldPromoteToObservedNamespace(entry) {
  return entry.name === "fanout-worker" || /^Worker worker-\d+/i.test(entry.taskInput ?? "");
}
function taskWorkNamespace(toolCallId, eventNamespace) {
  const last = eventNamespace.at(-1);
  if (last != null && isToolNamespaceSegment(last)) return [...eventNamespace];
  return [`tools:${toolCallId}`];
}
function toSnapshot(entry) {
  return {
    id: entry.id,
    name: entry.name,
    namespace: entry.namespace,
    parentId: entry.parentId,
    depth: entry.depth,
    status: entry.status,
    taskInput: entry.taskInput,
    output: entry.output,
    error: entry.error,
    startedAt: entry.startedAt,
    completedAt: entry.completedAt
  };
}
function parseTaskInput(raw) {
  if (raw == null) return {};
  if (typeof raw === "string") try {
    const parsed = JSON.parse(raw);
    return {
      description: typeof parsed.description === "string" ? parsed.description : void 0,
      subagent_type: typeof parsed.subagent_type === "string" ? parsed.subagent_type : void 0
    };
  } catch {
    return {};
  }
  if (typeof raw === "object" && !Array.isArray(raw)) {
    const obj = raw;
    return {
      description: typeof obj.description === "string" ? obj.description : void 0,
      subagent_type: typeof obj.subagent_type === "string" ? obj.subagent_type : void 0
    };
  }
  return {};
}
function getTaskToolCalls(message) {
  var _a17, _b;
  if (message == null || typeof message !== "object" || Array.isArray(message)) return [];
  const record = normalizeAIMessageToolCalls(message);
  const toolCalls = record.tool_calls ?? ((_a17 = record.kwargs) == null ? void 0 : _a17.tool_calls) ?? ((_b = record.lc_kwargs) == null ? void 0 : _b.tool_calls);
  if (!Array.isArray(toolCalls)) return [];
  const result = [];
  for (const toolCall of toolCalls) {
    if (toolCall == null || typeof toolCall !== "object" || Array.isArray(toolCall)) continue;
    const record2 = toolCall;
    if (typeof record2.id !== "string" || record2.name !== "task") continue;
    result.push({
      id: record2.id,
      input: parseTaskInput(record2.args)
    });
  }
  return result;
}
function getToolMessageCallId(message) {
  var _a17, _b;
  if (message == null || typeof message !== "object" || Array.isArray(message)) return;
  const record = message;
  const id = record.tool_call_id ?? ((_a17 = record.kwargs) == null ? void 0 : _a17.tool_call_id) ?? ((_b = record.lc_kwargs) == null ? void 0 : _b.tool_call_id);
  return typeof id === "string" && id.length > 0 ? id : void 0;
}
function lineageFromNamespace(namespace) {
  if (isRootNamespace(namespace)) return {
    parentId: null,
    depth: 1
  };
  const last = namespace[namespace.length - 1];
  if (last == null) return {
    parentId: null,
    depth: 1
  };
  const trimmed = last.split(":").filter((part) => part.length > 0).slice(1);
  const depth = Math.max(1, trimmed.length);
  return {
    parentId: (trimmed.length >= 2 ? trimmed[trimmed.length - 2] : null) ?? null,
    depth
  };
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/discovery/subgraphs.js
var EMPTY_SUBGRAPH_MAP = /* @__PURE__ */ new Map();
var EMPTY_SUBGRAPH_BY_NODE_MAP = /* @__PURE__ */ new Map();
function parseNodeName(segment) {
  const colon = segment.indexOf(":");
  return colon === -1 ? segment : segment.slice(0, colon);
}
var _shadow, _promoted, _SubgraphDiscovery_instances, onValuesEvent_fn2, ensureShadow_fn, commit_fn2, _a11;
var SubgraphDiscovery = (_a11 = class {
  constructor() {
    __privateAdd(this, _SubgraphDiscovery_instances);
    __publicField(this, "store", new StreamStore(/* @__PURE__ */ new Map()));
    __publicField(this, "byNodeStore", new StreamStore(/* @__PURE__ */ new Map()));
    /**
    * Latest known status for every namespaced lifecycle event we have
    * ever observed. A shadow entry is NOT necessarily a subgraph —
    * it is only projected into the committed stores once the same
    * namespace also appears in {@link #promoted}.
    */
    __privateAdd(this, _shadow, /* @__PURE__ */ new Map());
    /**
    * Namespaces that have been observed as a strict prefix of a
    * deeper namespace and are therefore confirmed subgraph hosts.
    * Insertion order is preserved and becomes the iteration order
    * of the committed snapshot maps.
    */
    __privateAdd(this, _promoted, /* @__PURE__ */ new Set());
  }
  /** Feed a single root event. Non-discovery events are ignored. */
  push(event) {
    if (event.method === "values") {
      __privateMethod(this, _SubgraphDiscovery_instances, onValuesEvent_fn2).call(this, event);
      return;
    }
    if (event.method !== "lifecycle") return;
    const lifecycle = event;
    const namespace = lifecycle.params.namespace;
    if (isRootNamespace(namespace)) return;
    const id = namespaceKey2(namespace);
    const data = lifecycle.params.data;
    const nodeName = parseNodeName(namespace[namespace.length - 1] ?? "");
    let touched = false;
    for (let depth = 1; depth < namespace.length; depth += 1) {
      const ancestorId = namespaceKey2(namespace.slice(0, depth));
      if (!__privateGet(this, _promoted).has(ancestorId)) {
        __privateGet(this, _promoted).add(ancestorId);
        if (__privateGet(this, _shadow).has(ancestorId)) touched = true;
      }
    }
    if (data.event === "started") {
      if (!__privateGet(this, _shadow).has(id)) {
        __privateGet(this, _shadow).set(id, {
          id,
          namespace: [...namespace],
          nodeName,
          status: "running",
          startedAt: /* @__PURE__ */ new Date(),
          completedAt: null
        });
        if (__privateGet(this, _promoted).has(id)) touched = true;
      }
    } else if (data.event === "completed" || data.event === "interrupted" || data.event === "failed") {
      const entry = __privateMethod(this, _SubgraphDiscovery_instances, ensureShadow_fn).call(this, id, namespace, nodeName);
      if (data.event === "failed") entry.status = "error";
      else entry.status = "complete";
      entry.completedAt = /* @__PURE__ */ new Date();
      if (__privateGet(this, _promoted).has(id)) touched = true;
    }
    if (touched) __privateMethod(this, _SubgraphDiscovery_instances, commit_fn2).call(this);
  }
  /**
  * Seed subgraph hosts from checkpoint history (see
  * `namespace-from-history.collectSubgraphHostNamespaces`) so subgraph
  * cards render on thread refresh without waiting for the depth-1 SSE
  * replay. Supplies the host/promotion decision from history instead
  * of the live strict-prefix heuristic, then reuses the same
  * `#ensureShadow` / `#promoted` / `#commit` path. Idempotent: never
  * downgrades an entry that already reached a terminal state.
  */
  seedFromHistory(hosts) {
    if (hosts.length === 0) return;
    for (const host of hosts) {
      if (isRootNamespace(host.namespace)) continue;
      const id = namespaceKey2(host.namespace);
      const lastSegment = host.namespace[host.namespace.length - 1] ?? "";
      const entry = __privateMethod(this, _SubgraphDiscovery_instances, ensureShadow_fn).call(this, id, host.namespace, parseNodeName(lastSegment));
      if (host.status !== "running" && entry.status !== "complete" && entry.status !== "error") {
        entry.status = host.status;
        entry.completedAt = /* @__PURE__ */ new Date();
      }
      __privateGet(this, _promoted).add(id);
    }
    __privateMethod(this, _SubgraphDiscovery_instances, commit_fn2).call(this);
  }
  get snapshot() {
    return this.store.getSnapshot();
  }
  get byNodeSnapshot() {
    return this.byNodeStore.getSnapshot();
  }
  /**
  * Drop all discovery state. Called on thread rebind / dispose so a
  * new thread's subgraphs cannot bleed into the previous UI.
  */
  reset() {
    __privateGet(this, _shadow).clear();
    __privateGet(this, _promoted).clear();
    this.store.setValue(EMPTY_SUBGRAPH_MAP);
    this.byNodeStore.setValue(EMPTY_SUBGRAPH_BY_NODE_MAP);
  }
}, _shadow = new WeakMap(), _promoted = new WeakMap(), _SubgraphDiscovery_instances = new WeakSet(), /**
* Promote subgraph host namespaces from namespaced `values` snapshots.
*
* Older protocol streams exposed subgraph structure primarily through
* nested `lifecycle` events: a host namespace such as
* `["research:<uuid>"]` was promoted once a deeper namespace like
* `["research:<uuid>", "inner:<uuid>"]` appeared. Some runtimes now
* emit the useful subgraph signal as `values` snapshots scoped directly
* to the host namespace instead, without forwarding inner lifecycle
* events to the client. In that shape, the namespace on the `values`
* event is already the selector target that `useMessages(stream,
* subgraph)` should subscribe to, so we create/promote the shadow
* subgraph entry from that namespace.
*
* Root `values` events are ignored because they represent the parent
* thread state, not a subgraph. Tool/subagent namespaces are also
* ignored because deep-agent task tools emit their own namespaced
* `values` snapshots under `tools:*` / `task:*`; those are discovered
* by `SubagentDiscovery` and must not be duplicated as subgraphs.
*
* A `values` event does not carry lifecycle terminal status, so the
* entry remains marked `running` until a matching lifecycle terminal
* event arrives. If no terminal arrives, the discovery map still
* contains the host namespace, which is the important invariant for
* scoped selectors.
*/
onValuesEvent_fn2 = function(event) {
  const namespace = event.params.namespace;
  if (isRootNamespace(namespace)) return;
  if (isInternalWorkNamespace(namespace)) return;
  const data = event.params.data;
  if (data == null || typeof data !== "object" || Array.isArray(data)) return;
  const id = namespaceKey2(namespace);
  const nodeName = parseNodeName(namespace[namespace.length - 1] ?? "");
  const entry = __privateMethod(this, _SubgraphDiscovery_instances, ensureShadow_fn).call(this, id, namespace, nodeName);
  if (entry.status !== "complete" && entry.status !== "error") entry.status = "running";
  if (!__privateGet(this, _promoted).has(id)) __privateGet(this, _promoted).add(id);
  __privateMethod(this, _SubgraphDiscovery_instances, commit_fn2).call(this);
}, ensureShadow_fn = function(id, namespace, nodeName) {
  let entry = __privateGet(this, _shadow).get(id);
  if (entry == null) {
    entry = {
      id,
      namespace: [...namespace],
      nodeName,
      status: "running",
      startedAt: /* @__PURE__ */ new Date(),
      completedAt: null
    };
    __privateGet(this, _shadow).set(id, entry);
  }
  return entry;
}, commit_fn2 = function() {
  const snapshots = [];
  for (const id of __privateGet(this, _promoted)) {
    const entry = __privateGet(this, _shadow).get(id);
    if (entry == null) continue;
    snapshots.push({ ...entry });
  }
  this.store.setValue(new Map(snapshots.map((s) => [s.id, s])));
  const byNode = /* @__PURE__ */ new Map();
  for (const snap of snapshots) {
    const bucket = byNode.get(snap.nodeName);
    if (bucket == null) byNode.set(snap.nodeName, [snap]);
    else bucket.push(snap);
  }
  this.byNodeStore.setValue(byNode);
}, _a11);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/assembled-to-message.js
function assembledToBaseMessage(input) {
  const { id, role, blocks, toolCallId, usage } = input;
  const textContent = extractContentString(blocks);
  const toolCalls = extractToolCalls(blocks);
  const toolCallChunks = extractToolCallChunks(blocks);
  const additionalKwargs = usage != null ? { usage } : void 0;
  switch (role) {
    case "human":
      return new HumanMessage({
        ...id != null ? { id } : {},
        content: textContent,
        ...additionalKwargs != null ? { additional_kwargs: additionalKwargs } : {}
      });
    case "system":
      return new SystemMessage({
        ...id != null ? { id } : {},
        content: textContent,
        ...additionalKwargs != null ? { additional_kwargs: additionalKwargs } : {}
      });
    case "tool":
      return new ToolMessage({
        ...id != null ? { id } : {},
        content: textContent,
        tool_call_id: toolCallId ?? ""
      });
    default: {
      const payload = {
        ...id != null ? { id } : {},
        content: cloneContentBlocks(blocks),
        ...toolCalls.length > 0 ? { tool_calls: toolCalls } : {},
        ...toolCallChunks.length > 0 ? { tool_call_chunks: toolCallChunks } : {},
        ...additionalKwargs != null ? { additional_kwargs: additionalKwargs } : {},
        response_metadata: { output_version: "v1" }
      };
      return toolCallChunks.length > 0 ? new AIMessageChunk(payload) : new AIMessage(payload);
    }
  }
}
function assembledMessageToBaseMessage(assembled, role, extras = {}) {
  return assembledToBaseMessage({
    id: assembled.id,
    role,
    blocks: assembled.blocks,
    toolCallId: extras.toolCallId,
    usage: assembled.usage
  });
}
function extractContentString(blocks) {
  let out = "";
  for (const block of blocks) if (block.type === "text" && typeof block.text === "string") out += block.text;
  return out;
}
function cloneContentBlocks(blocks) {
  return blocks.map((block) => structuredClone(block));
}
function extractToolCalls(blocks) {
  const out = [];
  for (const block of blocks) {
    if (block.type !== "tool_call" && block.type !== "tool_use") continue;
    const tc = block;
    out.push({
      id: tc.id ?? "",
      name: tc.name ?? "",
      args: normalizeToolCallArgs2(tc.args ?? tc.input),
      type: "tool_call"
    });
  }
  return out;
}
function extractToolCallChunks(blocks) {
  const out = [];
  for (const block of blocks) {
    if (block.type !== "tool_call_chunk") continue;
    const tc = block;
    out.push({
      id: tc.id,
      name: tc.name,
      args: tc.args,
      index: tc.index,
      type: "tool_call_chunk"
    });
  }
  return out;
}
function normalizeToolCallArgs2(value) {
  if (value != null && typeof value === "object" && !Array.isArray(value)) return value;
  if (typeof value === "string" && value.length > 0) try {
    const parsed = JSON.parse(value);
    if (parsed != null && typeof parsed === "object" && !Array.isArray(parsed)) return parsed;
  } catch {
  }
  return {};
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/ui/hitl-interrupt-payload.js
function aliasCasePair(item, camel, snake) {
  if (item === null || typeof item !== "object" || Array.isArray(item)) return item;
  const o = item;
  const merged = o[camel] ?? o[snake];
  const next = { ...o };
  if (merged !== void 0) {
    next[camel] = merged;
    next[snake] = merged;
  }
  return next;
}
function mapArrayAlias(raw, camel, snake) {
  if (!Array.isArray(raw)) return raw;
  return raw.map((item) => aliasCasePair(item, camel, snake));
}
function normalizeHitlInterruptPayload(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((v) => normalizeHitlInterruptPayload(v));
  const obj = value;
  if (!("action_requests" in obj || "actionRequests" in obj || "review_configs" in obj || "reviewConfigs" in obj)) return value;
  const next = { ...obj };
  const actionRequestsRaw = obj.actionRequests ?? obj.action_requests;
  if (actionRequestsRaw !== void 0) {
    const actionRequests = mapArrayAlias(actionRequestsRaw, "name", "action_name");
    next.actionRequests = actionRequests;
    next.action_requests = actionRequests;
  }
  const reviewConfigsRaw = obj.reviewConfigs ?? obj.review_configs;
  if (reviewConfigsRaw !== void 0) {
    const reviewConfigs = mapArrayAlias(reviewConfigsRaw, "allowedDecisions", "allowed_decisions");
    next.reviewConfigs = reviewConfigs;
    next.review_configs = reviewConfigs;
  }
  return next;
}
function normalizeDecisionForServer(decision) {
  if (decision === null || typeof decision !== "object" || Array.isArray(decision)) return decision;
  const obj = decision;
  if (obj.type !== "edit") return decision;
  const edited = obj.editedAction ?? obj.edited_action;
  if (edited === void 0) return decision;
  return {
    ...obj,
    editedAction: edited,
    edited_action: edited
  };
}
function normalizeHitlResponseForServer(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const obj = value;
  const decisions = obj.decisions;
  if (!Array.isArray(decisions)) return value;
  return {
    ...obj,
    decisions: decisions.map(normalizeDecisionForServer)
  };
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/ui/interrupts.js
function normalizeInterruptForClient(interrupt) {
  if (interrupt.value === void 0) return interrupt;
  return {
    ...interrupt,
    value: normalizeHitlInterruptPayload(interrupt.value)
  };
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/discovery/namespace-from-history.js
function getTasks(checkpoint) {
  const tasks = checkpoint.tasks;
  return Array.isArray(tasks) ? tasks : [];
}
function collectDirectTaskMappings(tasks, targets, out) {
  var _a17;
  for (const task of tasks) {
    if (!Array.isArray(task.path) || task.path[0] !== "__pregel_push" || typeof task.id !== "string" || typeof task.name !== "string") continue;
    const resultMessages = (_a17 = task.result) == null ? void 0 : _a17.messages;
    if (!Array.isArray(resultMessages)) continue;
    for (const msg of resultMessages) {
      const m = msg;
      const id = m.tool_call_id;
      if (m.type === "tool" && typeof id === "string" && targets.has(id) && !out.has(id)) out.set(id, `${task.name}:${task.id}`);
    }
  }
}
function collectPositionalTaskMappings(checkpoint, targets, out, messagesKey) {
  var _a17;
  const pushTasks = getTasks(checkpoint).filter((t) => Array.isArray(t.path) && t.path[0] === "__pregel_push" && typeof t.path[1] === "number" && typeof t.id === "string" && typeof t.name === "string");
  if (pushTasks.length === 0) return;
  const msgs = (_a17 = checkpoint.values) == null ? void 0 : _a17[messagesKey];
  if (!Array.isArray(msgs)) return;
  let toolCalls;
  for (let i = msgs.length - 1; i >= 0; i -= 1) {
    const m = msgs[i];
    if (m.type !== "ai") continue;
    const normalizedToolCalls = normalizeAIMessageToolCalls(m).tool_calls;
    if (Array.isArray(normalizedToolCalls) && normalizedToolCalls.some((tc) => tc.name === "task")) {
      toolCalls = normalizedToolCalls;
      break;
    }
  }
  if (toolCalls == null) return;
  for (const task of pushTasks) {
    const index = task.path[1];
    const tc = toolCalls[index];
    if ((tc == null ? void 0 : tc.name) === "task" && tc.id != null && typeof task.id === "string" && typeof task.name === "string" && targets.has(tc.id) && !out.has(tc.id)) out.set(tc.id, `${task.name}:${task.id}`);
  }
}
function beforeCursor(entry) {
  var _a17;
  const checkpointId = (_a17 = entry.checkpoint) == null ? void 0 : _a17.checkpoint_id;
  if (typeof checkpointId !== "string") return void 0;
  return { configurable: { checkpoint_id: checkpointId } };
}
function applyCollectors(history, targets, out, messagesKey) {
  for (const checkpoint of history) collectDirectTaskMappings(getTasks(checkpoint), targets, out);
  const stillUnmapped = () => [...targets].some((id) => !out.has(id));
  if (stillUnmapped()) for (const checkpoint of history) {
    if (!stillUnmapped()) break;
    collectPositionalTaskMappings(checkpoint, targets, out, messagesKey);
  }
}
function mapSubagentNamespaces(history, toolCallIds, messagesKey = DEFAULT_MESSAGES_KEY) {
  const out = /* @__PURE__ */ new Map();
  const targets = new Set(toolCallIds);
  if (targets.size === 0) return out;
  applyCollectors(history, targets, out, messagesKey);
  return out;
}
async function resolveSubagentNamespaces(client, threadId, toolCallIds, opts) {
  const out = /* @__PURE__ */ new Map();
  const targets = new Set(toolCallIds);
  if (targets.size === 0) return out;
  const limit = (opts == null ? void 0 : opts.limit) ?? 20;
  const messagesKey = (opts == null ? void 0 : opts.messagesKey) ?? "messages";
  const signal = opts == null ? void 0 : opts.signal;
  const page1 = await getHistoryPage(client, threadId, {
    limit,
    signal
  });
  applyCollectors(page1, targets, out, messagesKey);
  if ([...targets].filter((id) => !out.has(id)).length > 0 && page1.length > 0) {
    const before = beforeCursor(page1[page1.length - 1]);
    if (before != null) applyCollectors(await getHistoryPage(client, threadId, {
      limit,
      before,
      signal
    }), targets, out, messagesKey);
  }
  return out;
}
function getHistoryPage(client, threadId, options) {
  return client.threads.getHistory(threadId, options);
}
function checkpointNsToSegments(checkpointNs) {
  if (typeof checkpointNs !== "string" || checkpointNs.length === 0) return [];
  return checkpointNs.split("|").filter((segment) => segment.length > 0);
}
function isInternalSegment(segment) {
  return segment.startsWith("tools:") || segment.startsWith("task:");
}
function collectSubgraphHostNamespaces(history) {
  var _a17, _b, _c;
  const observed = /* @__PURE__ */ new Map();
  const record = (segments) => {
    if (segments.length === 0) return;
    observed.set(namespaceKey2(segments), segments);
  };
  for (const state of history) {
    record(checkpointNsToSegments((_a17 = state.checkpoint) == null ? void 0 : _a17.checkpoint_ns));
    for (const task of getTasks(state)) record(checkpointNsToSegments((_b = task.checkpoint) == null ? void 0 : _b.checkpoint_ns));
  }
  const pending = /* @__PURE__ */ new Set();
  if (history.length > 0) for (const task of getTasks(history[0])) {
    const segments = checkpointNsToSegments((_c = task.checkpoint) == null ? void 0 : _c.checkpoint_ns);
    if (segments.length > 0) pending.add(namespaceKey2(segments));
  }
  const candidates = /* @__PURE__ */ new Map();
  for (const segments of observed.values()) {
    for (let depth = 1; depth < segments.length; depth += 1) {
      const slice = segments.slice(0, depth);
      candidates.set(namespaceKey2(slice), slice);
    }
    if (segments.length === 1) candidates.set(namespaceKey2(segments), segments);
  }
  const hosts = [];
  for (const [key, segments] of candidates) {
    if (segments.some(isInternalSegment)) continue;
    const prefix = key + "\0";
    const running = pending.has(key) || [...pending].some((p) => p.startsWith(prefix));
    hosts.push({
      namespace: segments,
      status: running ? "running" : "complete"
    });
  }
  return hosts;
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/message-metadata-tracker.js
var EMPTY_METADATA_MAP = /* @__PURE__ */ new Map();
var _pendingCheckpointByNamespace, _pendingOptimisticIds, _a12;
var MessageMetadataTracker = (_a12 = class {
  constructor() {
    /** Observable map of messageId → metadata for framework consumers. */
    __publicField(this, "store", new StreamStore(EMPTY_METADATA_MAP));
    /**
    * Pending checkpoint envelopes awaiting their companion values
    * event. Keyed by `namespaceKey(namespace)` so a deeply-nested
    * checkpoint at one namespace doesn't collide with a root-level
    * checkpoint emitted in the same tick.
    */
    __privateAdd(this, _pendingCheckpointByNamespace, /* @__PURE__ */ new Map());
    /**
    * Ids of messages currently in the `"pending"` optimistic state.
    * Maintained alongside the metadata map so the controller can cheaply
    * (a) flip ids to `"sent"` when the server echoes them and (b) flip
    * any leftover ids to `"sent"` / `"failed"` at run terminal, without
    * scanning the whole metadata map.
    */
    __privateAdd(this, _pendingOptimisticIds, /* @__PURE__ */ new Set());
  }
  /**
  * Drop all buffered checkpoints and reset the metadata map to the
  * shared empty instance. Called on thread rebind / dispose so a new
  * thread's metadata can't bleed into the old one.
  */
  reset() {
    __privateGet(this, _pendingCheckpointByNamespace).clear();
    __privateGet(this, _pendingOptimisticIds).clear();
    this.store.setState(() => EMPTY_METADATA_MAP);
  }
  /**
  * Buffer a `checkpoints` event for later pairing with its values
  * companion.
  *
  * Defensive against missing / malformed payloads:
  *
  *   - `data == null`     → no-op (some upstream nodes elide the
  *     payload entirely; we keep the previous buffered envelope so
  *     the next consume call still wins).
  *   - `id` not a string  → no-op.
  *   - `parent_id` not a string → omitted from the envelope.
  *
  * @param namespace - Event namespace (used as the buffer key).
  * @param data      - Raw checkpoints payload.
  */
  bufferCheckpoint(namespace, data) {
    if (data == null || typeof data.id !== "string") return;
    const envelope = { id: data.id };
    if (typeof data.parent_id === "string") envelope.parent_id = data.parent_id;
    if (typeof data.step === "number") envelope.step = data.step;
    __privateGet(this, _pendingCheckpointByNamespace).set(namespaceKey2(namespace), envelope);
  }
  /**
  * Read-and-clear the buffered checkpoint envelope for `namespace`.
  *
  * Always pairs with a single {@link bufferCheckpoint} call: a values
  * event without a matching buffered checkpoint returns `undefined`
  * (meaning "no metadata to attach"), and the next checkpoint event
  * starts fresh rather than reusing stale data.
  *
  * @param namespace - Event namespace to consume.
  * @returns The buffered envelope, or `undefined` when none was buffered.
  */
  consumeCheckpoint(namespace) {
    const key = namespaceKey2(namespace);
    const checkpoint = __privateGet(this, _pendingCheckpointByNamespace).get(key);
    if (checkpoint != null) __privateGet(this, _pendingCheckpointByNamespace).delete(key);
    return checkpoint;
  }
  /**
  * Record metadata for a list of messages.
  *
  * Skips messages whose existing entry already matches `metadata`;
  * those without an `id` (or with a non-string id) are silently
  * ignored — there's nothing to key the metadata on. The store is
  * only updated when at least one entry actually changed, so
  * reapplying the same values snapshot is cheap.
  *
  * @param messages - Messages from the latest values payload.
  * @param metadata - Metadata to attach (currently just
  *   `parentCheckpointId`).
  */
  recordMessages(messages, metadata) {
    const current = this.store.getSnapshot();
    let changed = false;
    const next = new Map(current);
    for (const msg of messages) {
      const id = msg == null ? void 0 : msg.id;
      if (typeof id !== "string" || id.length === 0) continue;
      const prev = next.get(id);
      if (prev != null && prev.parentCheckpointId === metadata.parentCheckpointId) continue;
      next.set(id, {
        ...prev,
        ...metadata
      });
      changed = true;
    }
    if (changed) this.store.setState(() => next);
  }
  /**
  * Mark a set of message ids as optimistically `"pending"`.
  *
  * Called from {@link StreamController}'s optimistic submit path right
  * after the messages are appended to the projection, so a UI can
  * render a "sending…" affordance via
  * `useMessageMetadata(stream, id).optimisticStatus`.
  *
  * @param ids - Message ids that were just applied optimistically.
  */
  markPending(ids) {
    let changed = false;
    const next = new Map(this.store.getSnapshot());
    for (const id of ids) {
      if (typeof id !== "string" || id.length === 0) continue;
      __privateGet(this, _pendingOptimisticIds).add(id);
      const prev = next.get(id);
      if ((prev == null ? void 0 : prev.optimisticStatus) === "pending") continue;
      next.set(id, {
        parentCheckpointId: prev == null ? void 0 : prev.parentCheckpointId,
        ...prev,
        optimisticStatus: "pending"
      });
      changed = true;
    }
    if (changed) this.store.setState(() => next);
  }
  /**
  * Transition the given ids out of `"pending"`.
  *
  * Only ids currently tracked as pending are affected, so passing a
  * full server `values.messages` id list (to flip echoed messages to
  * `"sent"`) never stamps a status onto ordinary server messages.
  *
  * @param ids    - Candidate ids (e.g. all ids in a server snapshot,
  *   or the ids echoed by a single submit).
  * @param status - Terminal optimistic status (`"sent"` / `"failed"`).
  */
  resolvePending(ids, status) {
    let changed = false;
    const next = new Map(this.store.getSnapshot());
    for (const id of ids) {
      if (!__privateGet(this, _pendingOptimisticIds).has(id)) continue;
      __privateGet(this, _pendingOptimisticIds).delete(id);
      const prev = next.get(id);
      next.set(id, {
        parentCheckpointId: prev == null ? void 0 : prev.parentCheckpointId,
        ...prev,
        optimisticStatus: status
      });
      changed = true;
    }
    if (changed) this.store.setState(() => next);
  }
  /**
  * Snapshot of ids whose optimistic status is `"pending"` or
  * `"failed"` — i.e. messages applied locally that the server has not
  * echoed. Used by {@link StreamController.hydrate} to drop
  * never-persisted optimistic messages so a reload converges to
  * server truth.
  */
  unpersistedOptimisticIds() {
    const ids = new Set(__privateGet(this, _pendingOptimisticIds));
    for (const [id, meta] of this.store.getSnapshot()) if (meta.optimisticStatus === "failed") ids.add(id);
    return ids;
  }
  /**
  * Drop all metadata for the given ids. Called after never-persisted
  * optimistic messages are removed from the projection on
  * {@link StreamController.hydrate}, so their status doesn't linger.
  *
  * @param ids - Message ids to forget.
  */
  forget(ids) {
    let changed = false;
    const next = new Map(this.store.getSnapshot());
    for (const id of ids) {
      __privateGet(this, _pendingOptimisticIds).delete(id);
      if (next.delete(id)) changed = true;
    }
    if (changed) this.store.setState(() => next);
  }
}, _pendingCheckpointByNamespace = new WeakMap(), _pendingOptimisticIds = new WeakMap(), _a12);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/lifecycle-loading-tracker.js
var _store, _isDisposed, _lastTerminalLifecycleSeq, _lastRunningLifecycleSeq, _a13;
var LifecycleLoadingTracker = (_a13 = class {
  /**
  * @param params.store      - Store whose `isLoading` slot we drive.
  * @param params.isDisposed - Disposal probe consulted from deferred callbacks.
  */
  constructor(params) {
    /** Snapshot store whose `isLoading` slot we manage. */
    __privateAdd(this, _store);
    /**
    * Disposal probe. Consulted from the deferred `setTimeout` so a
    * controller torn down between scheduling and firing doesn't end
    * up writing to a defunct store.
    */
    __privateAdd(this, _isDisposed);
    /**
    * Highest sequence number of a terminal lifecycle we've observed.
    * `running` events at or below this seq are stale replays and
    * are dropped to avoid flipping the loading flag back on after the
    * run has already ended.
    */
    __privateAdd(this, _lastTerminalLifecycleSeq, -1);
    /**
    * Highest sequence number of a `running` lifecycle we've observed.
    * Deferred terminal resets compare against this so an
    * `interrupted`/`completed`/`failed` whose macrotask fires after a
    * newer `running` does not incorrectly clear `isLoading`.
    */
    __privateAdd(this, _lastRunningLifecycleSeq, -1);
    /**
    * Bound listener suitable for `EventBus.subscribe`. Re-exposed as a
    * stable property so the controller can later remove the same
    * function reference from the bus on teardown.
    */
    __publicField(this, "listener", (event) => {
      this.handle(event);
    });
    __privateSet(this, _store, params.store);
    __privateSet(this, _isDisposed, params.isDisposed);
  }
  /**
  * Reset internal state when rebinding to a new thread.
  *
  * The seq guards are per-thread: a new thread's lifecycle events
  * are not stale relative to the old thread's.
  */
  reset() {
    __privateSet(this, _lastTerminalLifecycleSeq, -1);
    __privateSet(this, _lastRunningLifecycleSeq, -1);
  }
  /**
  * Process a single protocol event.
  *
  * Filters down to root-namespace lifecycle events, then mutates the
  * store's `isLoading` slot. All other events are ignored.
  *
  * @param event - Any protocol event from the controller's root bus.
  */
  handle(event) {
    if (event.method !== "lifecycle") return;
    if (!isRootNamespace(event.params.namespace)) return;
    const lifecycle = event.params.data;
    const seq = typeof event.seq === "number" ? event.seq : void 0;
    if ((lifecycle == null ? void 0 : lifecycle.event) === "running") {
      if (seq != null && seq <= __privateGet(this, _lastTerminalLifecycleSeq)) return;
      if (seq != null) __privateSet(this, _lastRunningLifecycleSeq, Math.max(__privateGet(this, _lastRunningLifecycleSeq), seq));
      __privateGet(this, _store).setState((s) => s.isLoading ? s : {
        ...s,
        isLoading: true
      });
      return;
    }
    if ((lifecycle == null ? void 0 : lifecycle.event) === "completed" || (lifecycle == null ? void 0 : lifecycle.event) === "failed" || (lifecycle == null ? void 0 : lifecycle.event) === "interrupted") {
      if (seq != null) __privateSet(this, _lastTerminalLifecycleSeq, Math.max(__privateGet(this, _lastTerminalLifecycleSeq), seq));
      setTimeout(() => {
        if (__privateGet(this, _isDisposed).call(this)) return;
        if (seq != null && __privateGet(this, _lastRunningLifecycleSeq) > seq) return;
        __privateGet(this, _store).setState((s) => s.isLoading ? {
          ...s,
          isLoading: false
        } : s);
      }, 0);
    }
  }
}, _store = new WeakMap(), _isDisposed = new WeakMap(), _lastTerminalLifecycleSeq = new WeakMap(), _lastRunningLifecycleSeq = new WeakMap(), _a13);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/message-reconciliation.js
function reconcileMessagesFromValues({ valueMessages, currentMessages, currentIndexById, previousValueMessageIds, streamedMessageIds, preferValuesMessage, addOnly }) {
  const valueMessageIds = /* @__PURE__ */ new Set();
  const merged = [];
  for (const valuesMessage of valueMessages) {
    const id = normalizedMessageId(valuesMessage);
    if (id == null) {
      merged.push(valuesMessage);
      continue;
    }
    valueMessageIds.add(id);
    const streamIdx = currentIndexById.get(id);
    const streamedMessage = streamIdx != null && (streamedMessageIds == null || streamedMessageIds.has(id)) ? currentMessages[streamIdx] : void 0;
    if (streamedMessage != null && (preferValuesMessage == null ? void 0 : preferValuesMessage(valuesMessage, streamedMessage)) !== true) merged.push(streamedMessage);
    else merged.push(valuesMessage);
  }
  for (const existing of currentMessages) {
    const id = normalizedMessageId(existing);
    if (id == null) continue;
    if (valueMessageIds.has(id)) continue;
    if (!addOnly && previousValueMessageIds.has(id)) continue;
    if (streamedMessageIds != null && !streamedMessageIds.has(id)) continue;
    merged.push(existing);
  }
  return {
    messages: messagesEqualList(currentMessages, merged) ? currentMessages : merged,
    valueMessageIds
  };
}
function buildMessageIndex(messages) {
  const index = /* @__PURE__ */ new Map();
  messages.forEach((message, idx) => {
    const id = normalizedMessageId(message);
    if (id != null) index.set(id, idx);
  });
  return index;
}
function shouldPreferValuesMessage(valuesMessage, streamedMessage, options) {
  if (shouldPreferValuesMessageForToolCalls(valuesMessage, streamedMessage)) return true;
  if (!jsonishEqual(valuesMessage.content, streamedMessage.content)) return false;
  return valuesAddsMetadataEnrichment(valuesMessage, streamedMessage, options);
}
var METADATA_ENRICHMENT_KEYS = [
  "additional_kwargs",
  "response_metadata",
  "usage_metadata"
];
function valuesAddsMetadataEnrichment(valuesMessage, streamedMessage, options) {
  const allowInPlaceMutations = (options == null ? void 0 : options.allowInPlaceMutations) !== false;
  const valuesRecord = valuesMessage;
  const streamedRecord = streamedMessage;
  let enriches = false;
  for (const key of METADATA_ENRICHMENT_KEYS) {
    const valuesField = valuesRecord[key];
    const streamedField = streamedRecord[key];
    if (jsonishEqual(valuesField, streamedField)) continue;
    const valuesEmpty = isEmptyMeta(valuesField);
    const streamedEmpty = isEmptyMeta(streamedField);
    if (valuesEmpty && !streamedEmpty) return false;
    if (!valuesEmpty && streamedEmpty) {
      enriches = true;
      continue;
    }
    if (allowInPlaceMutations) {
      if (retainsAllNestedKeys(valuesField, streamedField)) {
        enriches = true;
        continue;
      }
      return false;
    }
    if (isObjectShallowSuperset(valuesField, streamedField)) {
      enriches = true;
      continue;
    }
    return false;
  }
  return enriches;
}
function isEmptyMeta(value) {
  if (value == null) return true;
  if (typeof value === "string") return value.length === 0;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object") return Object.keys(value).length === 0;
  return false;
}
function isObjectShallowSuperset(candidate, baseline) {
  if (candidate == null || baseline == null || typeof candidate !== "object" || typeof baseline !== "object" || Array.isArray(candidate) || Array.isArray(baseline)) return false;
  const candidateRecord = candidate;
  const baselineRecord = baseline;
  const baselineKeys = Object.keys(baselineRecord);
  if (Object.keys(candidateRecord).length <= baselineKeys.length) return false;
  for (const key of baselineKeys) {
    if (!Object.prototype.hasOwnProperty.call(candidateRecord, key)) return false;
    if (!jsonishEqual(candidateRecord[key], baselineRecord[key])) return false;
  }
  return true;
}
function retainsAllNestedKeys(candidate, baseline) {
  if (baseline == null || typeof baseline !== "object") return true;
  if (candidate == null || typeof candidate !== "object" || Array.isArray(baseline) !== Array.isArray(candidate)) return false;
  if (Array.isArray(baseline)) {
    const candidateArr = candidate;
    const baselineArr = baseline;
    if (candidateArr.length < baselineArr.length) return false;
    for (let i = 0; i < baselineArr.length; i += 1) if (!retainsAllNestedKeys(candidateArr[i], baselineArr[i])) return false;
    return true;
  }
  const candidateRecord = candidate;
  const baselineRecord = baseline;
  for (const key of Object.keys(baselineRecord)) {
    if (!Object.prototype.hasOwnProperty.call(candidateRecord, key)) return false;
    if (!retainsAllNestedKeys(candidateRecord[key], baselineRecord[key])) return false;
  }
  return true;
}
function shouldPreferValuesMessageForToolCalls(valuesMessage, streamedMessage) {
  const valuesToolCalls = getMessageToolCalls(valuesMessage);
  if (valuesToolCalls.length === 0) return false;
  const streamedToolCalls = getMessageToolCalls(streamedMessage);
  if (streamedToolCalls.length < valuesToolCalls.length) return true;
  const streamedIds = new Set(streamedToolCalls.map((toolCall) => toolCall.id).filter((id) => typeof id === "string" && id.length > 0));
  if (valuesToolCalls.some((toolCall) => {
    return typeof toolCall.id === "string" && !streamedIds.has(toolCall.id);
  })) return true;
  return valuesToolCalls.some((valuesToolCall) => {
    const streamedToolCall = streamedToolCalls.find((candidate) => typeof valuesToolCall.id === "string" && candidate.id === valuesToolCall.id);
    return streamedToolCall != null && hasMeaningfulArgs(valuesToolCall.args) && !jsonishEqual(valuesToolCall.args, streamedToolCall.args);
  });
}
function hasMeaningfulArgs(args) {
  if (args == null) return false;
  if (typeof args === "string") return args.length > 0;
  if (typeof args === "object") return Object.keys(args).length > 0;
  return true;
}
function messagesEqualList(previous, next) {
  if (previous === next) return true;
  if (previous.length !== next.length) return false;
  for (let i = 0; i < previous.length; i += 1) if (!messagesEqual(previous[i], next[i])) return false;
  return true;
}
function messagesEqual(previous, next) {
  if (previous === next) return true;
  if (previous == null || next == null) return false;
  const previousRecord = previous;
  const nextRecord = next;
  const previousType = typeof previous.getType === "function" ? previous.getType() : previousRecord.type;
  const nextType = typeof next.getType === "function" ? next.getType() : nextRecord.type;
  return previous.id === next.id && previousType === nextType && jsonishEqual(previous.content, next.content) && previousRecord.tool_call_id === nextRecord.tool_call_id && previousRecord.status === nextRecord.status && jsonishEqual(previousRecord.additional_kwargs, nextRecord.additional_kwargs) && jsonishEqual(previousRecord.response_metadata, nextRecord.response_metadata) && jsonishEqual(previousRecord.tool_calls, nextRecord.tool_calls) && jsonishEqual(previousRecord.tool_call_chunks, nextRecord.tool_call_chunks) && jsonishEqual(previousRecord.usage_metadata, nextRecord.usage_metadata);
}
function normalizedMessageId(message) {
  return typeof message.id === "string" && message.id.length > 0 ? message.id : void 0;
}
function getMessageToolCalls(message) {
  const raw = message.tool_calls;
  if (!Array.isArray(raw)) return [];
  return raw.filter((toolCall) => toolCall != null && typeof toolCall === "object");
}
function jsonishEqual(previous, next) {
  return jsonishEqualAtDepth(previous, next, 0);
}
function jsonishEqualAtDepth(previous, next, depth) {
  if (Object.is(previous, next)) return true;
  if (previous == null || next == null) return false;
  if (typeof previous !== "object" || typeof next !== "object") return false;
  if (depth >= 4) return false;
  if (Array.isArray(previous) || Array.isArray(next)) {
    if (!Array.isArray(previous) || !Array.isArray(next)) return false;
    if (previous.length !== next.length) return false;
    for (let i = 0; i < previous.length; i += 1) if (!jsonishEqualAtDepth(previous[i], next[i], depth + 1)) return false;
    return true;
  }
  const previousRecord = previous;
  const nextRecord = next;
  const previousKeys = Object.keys(previousRecord).filter((key) => typeof previousRecord[key] !== "function");
  const nextKeys = Object.keys(nextRecord).filter((key) => typeof nextRecord[key] !== "function");
  if (previousKeys.length !== nextKeys.length) return false;
  for (const key of previousKeys) {
    if (!Object.prototype.hasOwnProperty.call(nextRecord, key)) return false;
    if (!jsonishEqualAtDepth(previousRecord[key], nextRecord[key], depth + 1)) return false;
  }
  return true;
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/root-message-projection.js
var _messagesKey, _store2, _assembler, _roles, _indexById, _valuesMessageIds, _toolCallIdByNamespace, _pendingMessages, _pendingValues, _flushScheduled, _maxStep, _sealedMessageIds, _sealStep, _scheduleFlush, _flushPending, _a14;
var RootMessageProjection = (_a14 = class {
  /**
  * @param params.messagesKey - Key inside `values` that holds the
  *   message array.
  * @param params.store       - Root snapshot store to mutate.
  */
  constructor(params) {
    /**
    * Key inside `values` that holds the message array. Defaults to
    * `"messages"` in the controller; configurable for state graphs
    * that surface messages under a different slot.
    */
    __privateAdd(this, _messagesKey);
    /** Root snapshot store written to on every merge. */
    __privateAdd(this, _store2);
    /**
    * Stateful chunk assembler for in-flight messages. Reset (via a
    * fresh instance) on every {@link reset} so a new thread starts
    * with no half-built messages from the previous one.
    */
    __privateAdd(this, _assembler, new MessageAssembler());
    /**
    * `messageId → role/toolCallId` captured from `message-start` events.
    * The assembler's intermediate output drops these fields, so we cache
    * them at start-time and reapply when projecting to a `BaseMessage`.
    */
    __privateAdd(this, _roles, /* @__PURE__ */ new Map());
    /**
    * `messageId → position in #store.messages` for fast in-place
    * updates as deltas arrive. Rebuilt on every full reconciliation
    * driven by a `values` event.
    */
    __privateAdd(this, _indexById, /* @__PURE__ */ new Map());
    /**
    * Ids observed in the most recent `values.messages` snapshot.
    * Reconciliation uses this to detect server-side removals: a
    * previously-seen id missing from the next snapshot means it was
    * removed by the server (and should drop from the projection).
    */
    __privateAdd(this, _valuesMessageIds, /* @__PURE__ */ new Set());
    /**
    * `namespaceKey → tool_call_id` captured from root `tool-started`
    * events. Used as a fallback when a tool-role `message-start` is
    * missing its `tool_call_id` field.
    */
    __privateAdd(this, _toolCallIdByNamespace, /* @__PURE__ */ new Map());
    /**
    * Coalescing buffer for store writes. {@link handleMessage} and
    * {@link applyValues} stage their computed `messages` / `values`
    * here instead of calling `store.setState` per event. A single
    * `setTimeout(0)` flush commits them in one `setState`, so a
    * burst of SSE events draining as a microtask chain becomes one
    * store notification at the next macrotask boundary.
    *
    * `null` means "no staged write" — once a flush settles, the
    * slots are cleared so the next call starts from the latest
    * committed store snapshot.
    */
    __privateAdd(this, _pendingMessages, null);
    __privateAdd(this, _pendingValues, null);
    __privateAdd(this, _flushScheduled, false);
    /**
    * Highest checkpoint `step` whose `values` snapshot has been applied.
    * Seeded by {@link StreamController.hydrate} from `getState()` and
    * advanced by live `values` events. A snapshot arriving with a lower
    * step is an older checkpoint replayed by the content pump on
    * reconnect; it is reconciled in add-only mode so it cannot remove
    * the seeded message tail (the final assistant turn). `undefined`
    * until the first step-bearing snapshot, where the legacy
    * remove-on-absence behavior is preserved.
    */
    __privateAdd(this, _maxStep);
    /**
    * Message ids seeded as complete-and-final from an idle thread's
    * `getState()` snapshot. An idle thread defers its root SSE pump, and
    * the first `submit()` brings it up — at which point the transport
    * replays the finished run from `seq=0`. Unlike the `values` channel
    * (guarded by {@link #maxStep}), `messages`-channel deltas carry no
    * step, so that replay would otherwise rebuild each already-complete
    * message from an empty `message-start` and re-stream the whole turn
    * token-by-token, clobbering the seeded tail (a visible "messages
    * replay" on the first submit). Deltas for a sealed id are dropped in
    * {@link handleMessage}. The seal is lifted once a checkpoint advances
    * strictly past {@link #sealStep} (see {@link applyValues}) or on
    * thread rebind ({@link reset}). New ids from the next run are never
    * sealed, so they stream normally.
    */
    __privateAdd(this, _sealedMessageIds, /* @__PURE__ */ new Set());
    /**
    * High-water {@link #maxStep} captured when {@link sealMessageIds} ran,
    * i.e. the seed checkpoint's step (or `undefined` when `getState()`
    * carried no `metadata.step`). It is the boundary between the replayed
    * idle history (steps `<= #sealStep`, emitted by the deferred pump's
    * `seq=0` replay) and the new run (steps `> #sealStep`); only a
    * checkpoint strictly past it lifts the seal. Without this boundary the
    * replayed old-run checkpoints — which themselves carry increasing
    * steps — would advance {@link #maxStep} and lift the seal mid-replay,
    * reopening the clobber. When the seed step is unknown the boundary
    * stays `undefined` and the seal holds until {@link reset}; the
    * `values` channel (which ignores the seal) still reconciles any
    * genuine change to a sealed id, only its streamed deltas are dropped.
    */
    __privateAdd(this, _sealStep);
    /**
    * Schedule a coalesced flush on the next macrotask. Idempotent
    * within a tick — multiple `handleMessage` / `applyValues` calls
    * before the flush fires collapse into one store write.
    *
    * `setTimeout(0)` is a macrotask: it runs after the current
    * microtask chain drains, so a burst of SSE events processed by
    * the controller's `for await` pump becomes one `store.setState`
    * (and therefore one `useSyncExternalStore` notification).
    */
    __privateAdd(this, _scheduleFlush, () => {
      if (__privateGet(this, _flushScheduled)) return;
      __privateSet(this, _flushScheduled, true);
      setTimeout(__privateGet(this, _flushPending), 0);
    });
    /**
    * Drain `#pendingMessages` / `#pendingValues` to the store in a
    * single `setState` call.
    */
    __privateAdd(this, _flushPending, () => {
      __privateSet(this, _flushScheduled, false);
      const messages = __privateGet(this, _pendingMessages);
      const values = __privateGet(this, _pendingValues);
      __privateSet(this, _pendingMessages, null);
      __privateSet(this, _pendingValues, null);
      if (messages == null && values == null) return;
      __privateGet(this, _store2).setState((s) => {
        if (messages == null) return values == null ? s : {
          ...s,
          values
        };
        if (values == null) return {
          ...s,
          messages
        };
        return {
          ...s,
          messages,
          values
        };
      });
    });
    __privateSet(this, _messagesKey, params.messagesKey);
    __privateSet(this, _store2, params.store);
  }
  /**
  * Drop all per-thread state. Called by the controller on thread
  * rebind / dispose so a swap doesn't surface stale messages.
  */
  reset() {
    __privateSet(this, _assembler, new MessageAssembler());
    __privateGet(this, _roles).clear();
    __privateGet(this, _indexById).clear();
    __privateSet(this, _valuesMessageIds, /* @__PURE__ */ new Set());
    __privateGet(this, _toolCallIdByNamespace).clear();
    __privateSet(this, _pendingMessages, null);
    __privateSet(this, _pendingValues, null);
    __privateSet(this, _flushScheduled, false);
    __privateSet(this, _maxStep, void 0);
    __privateGet(this, _sealedMessageIds).clear();
    __privateSet(this, _sealStep, void 0);
  }
  /**
  * Seal message ids so the streamed `messages` channel cannot downgrade
  * them to partial re-streams. Called by {@link StreamController.hydrate}
  * after seeding an idle thread, whose deferred pump replays the finished
  * run from `seq=0` on the first submit.
  *
  * Captures the current {@link #maxStep} as the lift boundary
  * ({@link #sealStep}). The seal is applied immediately after the seed's
  * `getState()` snapshot is reconciled, so `#maxStep` here is the seed
  * step (or `undefined` when `getState()` carried no `metadata.step`).
  * The seal is lifted once a checkpoint advances strictly past that
  * boundary (see {@link applyValues}) or on thread rebind
  * ({@link reset}).
  *
  * @param ids - Complete message ids from the idle `getState()` seed.
  */
  sealMessageIds(ids) {
    for (const id of ids) __privateGet(this, _sealedMessageIds).add(id);
    if (__privateGet(this, _sealStep) == null) __privateSet(this, _sealStep, __privateGet(this, _maxStep));
  }
  /**
  * Record a `namespace → tool_call_id` mapping captured from a root
  * `tool-started` event.
  *
  * The companion tool-role `message-start` event may not carry a
  * `tool_call_id`, so we fall back to the most recent value recorded
  * here for the same namespace.
  *
  * @param namespace  - Event namespace from the `tool-started` event.
  * @param toolCallId - Tool call id from the same event.
  */
  recordToolCallNamespace(namespace, toolCallId) {
    __privateGet(this, _toolCallIdByNamespace).set(namespaceKey2(namespace), toolCallId);
  }
  /**
  * Apply a `messages` channel event to the projection.
  *
  * Captures role/tool metadata on `message-start`, feeds the chunk
  * to the assembler, projects the assembled output to a
  * {@link BaseMessage}, and either appends or in-place updates the
  * pending messages buffer based on whether the id was seen before.
  *
  * @param event - The `messages` channel event to consume.
  */
  handleMessage(event) {
    const data = event.params.data;
    if (data.event === "message-start") {
      const startData = data;
      const role = startData.role ?? "ai";
      const extendedRole = startData.role ?? role;
      let toolCallId = startData.tool_call_id;
      if (extendedRole === "tool" && toolCallId == null) {
        const messageId = startData.id;
        if (messageId != null) {
          const match = /-tool-(.+)$/.exec(messageId);
          if (match != null) toolCallId = match[1];
        }
        if (toolCallId == null) toolCallId = __privateGet(this, _toolCallIdByNamespace).get(namespaceKey2(event.params.namespace));
      }
      if (startData.id != null) __privateGet(this, _roles).set(startData.id, {
        role: extendedRole,
        toolCallId
      });
    }
    const update = __privateGet(this, _assembler).consume(event);
    if (update == null) return;
    const id = update.message.id;
    if (id == null) return;
    if (__privateGet(this, _sealedMessageIds).has(id)) return;
    const captured = __privateGet(this, _roles).get(id) ?? { role: "ai" };
    const base = assembledMessageToBaseMessage(update.message, captured.role, { toolCallId: captured.toolCallId });
    const baselineMessages = __privateGet(this, _pendingMessages) ?? __privateGet(this, _store2).getSnapshot().messages;
    const existingIdx = __privateGet(this, _indexById).get(id);
    let messages;
    if (existingIdx == null) {
      __privateGet(this, _indexById).set(id, baselineMessages.length);
      messages = [...baselineMessages, base];
    } else if (messagesEqual(baselineMessages[existingIdx], base)) return;
    else {
      messages = baselineMessages.slice();
      messages[existingIdx] = base;
    }
    const baselineValues = __privateGet(this, _pendingValues) ?? __privateGet(this, _store2).getSnapshot().values;
    const values = syncMessagesIntoValues(baselineValues, __privateGet(this, _messagesKey), messages);
    __privateSet(this, _pendingMessages, messages);
    if (values !== baselineValues) __privateSet(this, _pendingValues, values);
    __privateGet(this, _scheduleFlush).call(this);
  }
  /**
  * Reconcile a full `values` snapshot into the projection.
  *
  * Delegates the merge to {@link reconcileMessagesFromValues}:
  * values stays authoritative for ordering, removals, and same-id
  * metadata enrichment, while streamed in-flight messages keep
  * content that has moved past the snapshot. Empty messages just
  * refresh the values blob.
  *
  * Rebuilds {@link #indexById} after the merge so subsequent delta
  * applications target the new positions.
  *
  * @param nextValues   - Full values snapshot from the `values` event.
  * @param nextMessages - The messages array extracted from
  *   `values[messagesKey]` and coerced to `BaseMessage` instances.
  * @param opts.step    - Checkpoint superstep for this snapshot, when
  *   known. A snapshot whose step is below the highest applied step is
  *   treated as a stale reconnect replay and reconciled add-only.
  */
  applyValues(nextValues, nextMessages, opts) {
    const baselineSnapshot = __privateGet(this, _store2).getSnapshot();
    const baselineMessages = __privateGet(this, _pendingMessages) ?? baselineSnapshot.messages;
    const baselineValues = __privateGet(this, _pendingValues) ?? baselineSnapshot.values;
    const step = opts == null ? void 0 : opts.step;
    const addOnly = step != null && __privateGet(this, _maxStep) != null && step < __privateGet(this, _maxStep);
    if (step != null && (__privateGet(this, _maxStep) == null || step > __privateGet(this, _maxStep))) __privateSet(this, _maxStep, step);
    if (__privateGet(this, _sealedMessageIds).size > 0 && step != null && __privateGet(this, _sealStep) != null && step > __privateGet(this, _sealStep)) __privateGet(this, _sealedMessageIds).clear();
    if (nextMessages.length === 0) {
      if (stateValuesShallowEqual(baselineValues, nextValues, __privateGet(this, _messagesKey))) return;
      __privateSet(this, _pendingValues, syncMessagesIntoValues(nextValues, __privateGet(this, _messagesKey), baselineMessages));
      __privateGet(this, _scheduleFlush).call(this);
      return;
    }
    const reconciliation = reconcileMessagesFromValues({
      valueMessages: nextMessages,
      currentMessages: baselineMessages,
      currentIndexById: __privateGet(this, _indexById),
      previousValueMessageIds: __privateGet(this, _valuesMessageIds),
      preferValuesMessage: (valuesMessage, streamedMessage) => shouldPreferValuesMessage(valuesMessage, streamedMessage, { allowInPlaceMutations: !addOnly }),
      addOnly
    });
    if (!addOnly) __privateSet(this, _valuesMessageIds, reconciliation.valueMessageIds);
    const messages = reconciliation.messages;
    const values = {
      ...nextValues,
      [__privateGet(this, _messagesKey)]: messages
    };
    if (messages === baselineMessages && stateValuesShallowEqual(baselineValues, values, __privateGet(this, _messagesKey))) return;
    __privateGet(this, _indexById).clear();
    for (const [id, idx] of buildMessageIndex(messages)) __privateGet(this, _indexById).set(id, idx);
    __privateSet(this, _pendingMessages, messages);
    __privateSet(this, _pendingValues, values);
    __privateGet(this, _scheduleFlush).call(this);
  }
  /**
  * Append messages applied optimistically by a local `submit()`,
  * keyed by id so the eventual server echo reconciles cleanly.
  *
  * Unlike {@link applyValues}, the supplied messages are *not* treated
  * as an authoritative ordered snapshot: they are appended to the end
  * of the current projection (or replaced in place when the id already
  * exists), preserving prior history ordering. When the server later
  * emits a `values` snapshot containing the same ids,
  * {@link applyValues} → {@link reconcileMessagesFromValues} takes over
  * (server ordering wins; the echoed message replaces the optimistic
  * one when content matches *and* values adds or mutates nested
  * metadata without dropping keys the optimistic copy already has, so
  * server-authored `additional_kwargs` / in-place
  * `response_metadata` updates are visible without waiting for
  * hydration — lagging/poorer snapshots do not strip richer current
  * metadata).
  * In-flight streamed content still wins when it has moved past the
  * snapshot.
  *
  * Non-message input keys are shallow-merged into `values` via
  * `extraValues`; they are dropped/overwritten automatically by the
  * first server `values` event (which rebuilds `values` from the
  * server snapshot), or rolled back via {@link restoreValueKeys} when
  * the run fails before any echo.
  *
  * @param messages    - Optimistic messages (already coerced to
  *   `BaseMessage` instances, each carrying a stable id).
  * @param extraValues - Non-message input keys to shallow-merge into
  *   `values`.
  * @param options     - When `sync` is true the staged write is
  *   committed to the store *synchronously* instead of being coalesced
  *   onto the next macrotask. Used for discrete, user-initiated
  *   optimistic writes (`submit()` / `respond()` / `respondAll()`):
  *   committing in the same tick as the triggering event lets the
  *   framework render the optimistic message in the *same* commit as
  *   any local state the caller flipped alongside it (e.g. a HITL form
  *   hiding its inputs), so the pushed card never blinks out for the
  *   one-macrotask window before the flush lands. Streaming writes
  *   (`handleMessage` / `applyValues`) keep the default macrotask
  *   coalescing, which is what tames high-frequency SSE bursts.
  */
  appendOptimistic(messages, extraValues, options) {
    let working = __privateGet(this, _pendingMessages) ?? __privateGet(this, _store2).getSnapshot().messages;
    let mutated = false;
    for (const message of messages) {
      const id = message.id;
      if (id == null) continue;
      const existingIdx = __privateGet(this, _indexById).get(id);
      if (existingIdx == null) {
        if (!mutated) {
          working = working.slice();
          mutated = true;
        }
        __privateGet(this, _indexById).set(id, working.length);
        working.push(message);
      } else if (!messagesEqual(working[existingIdx], message)) {
        if (!mutated) {
          working = working.slice();
          mutated = true;
        }
        working[existingIdx] = message;
      }
    }
    const baselineValues = __privateGet(this, _pendingValues) ?? __privateGet(this, _store2).getSnapshot().values;
    let values = baselineValues;
    if (extraValues != null && Object.keys(extraValues).length > 0) values = {
      ...baselineValues,
      ...extraValues
    };
    values = syncMessagesIntoValues(values, __privateGet(this, _messagesKey), working);
    if (!mutated && values === baselineValues) return;
    __privateSet(this, _pendingMessages, working);
    if (values !== baselineValues) __privateSet(this, _pendingValues, values);
    if (options == null ? void 0 : options.sync) __privateGet(this, _flushPending).call(this);
    else __privateGet(this, _scheduleFlush).call(this);
  }
  /**
  * Drop optimistic messages by id without disturbing the rest of the
  * projection. Used by {@link StreamController.hydrate} to remove
  * never-persisted optimistic messages (`pending` / `failed`) so a
  * reload converges to server truth.
  *
  * @param ids - Message ids to remove.
  */
  dropOptimisticMessages(ids) {
    if (ids.size === 0) return;
    const baselineMessages = __privateGet(this, _pendingMessages) ?? __privateGet(this, _store2).getSnapshot().messages;
    const next = baselineMessages.filter((m) => m.id == null || !ids.has(m.id));
    if (next.length === baselineMessages.length) return;
    __privateGet(this, _indexById).clear();
    for (const [id, idx] of buildMessageIndex(next)) __privateGet(this, _indexById).set(id, idx);
    const baselineValues = __privateGet(this, _pendingValues) ?? __privateGet(this, _store2).getSnapshot().values;
    __privateSet(this, _pendingMessages, next);
    __privateSet(this, _pendingValues, syncMessagesIntoValues(baselineValues, __privateGet(this, _messagesKey), next));
    __privateGet(this, _scheduleFlush).call(this);
  }
  /**
  * Restore (or delete) `values` keys that were optimistically merged
  * by {@link appendOptimistic} but never echoed by the server — i.e.
  * roll back non-message optimistic state when the run fails before
  * any `values` event lands. Messages are left untouched (kept on
  * failure per the optimistic contract).
  *
  * @param restore - Per-key pre-submit snapshot: when `hadKey` is
  *   false the key is deleted, otherwise it is reset to `prevValue`.
  */
  restoreValueKeys(restore) {
    if (restore.length === 0) return;
    const next = { ...__privateGet(this, _pendingValues) ?? __privateGet(this, _store2).getSnapshot().values };
    let changed = false;
    for (const { key, hadKey, prevValue } of restore) {
      if (key === __privateGet(this, _messagesKey)) continue;
      if (hadKey) {
        if (!Object.is(next[key], prevValue)) {
          next[key] = prevValue;
          changed = true;
        }
      } else if (Object.prototype.hasOwnProperty.call(next, key)) {
        delete next[key];
        changed = true;
      }
    }
    if (!changed) return;
    __privateSet(this, _pendingValues, next);
    __privateGet(this, _scheduleFlush).call(this);
  }
}, _messagesKey = new WeakMap(), _store2 = new WeakMap(), _assembler = new WeakMap(), _roles = new WeakMap(), _indexById = new WeakMap(), _valuesMessageIds = new WeakMap(), _toolCallIdByNamespace = new WeakMap(), _pendingMessages = new WeakMap(), _pendingValues = new WeakMap(), _flushScheduled = new WeakMap(), _maxStep = new WeakMap(), _sealedMessageIds = new WeakMap(), _sealStep = new WeakMap(), _scheduleFlush = new WeakMap(), _flushPending = new WeakMap(), _a14);
function syncMessagesIntoValues(values, messagesKey, messages) {
  const record = values;
  const current = record[messagesKey];
  if (Array.isArray(current) && messagesEqualList2(current, messages)) return values;
  return {
    ...record,
    [messagesKey]: messages
  };
}
function messagesEqualList2(previous, next) {
  if (previous === next) return true;
  if (previous.length !== next.length) return false;
  for (let i = 0; i < previous.length; i += 1) if (!messagesEqual(previous[i], next[i])) return false;
  return true;
}
function stateValuesShallowEqual(previous, next, messagesKey) {
  if (previous === next) return true;
  const previousRecord = previous;
  const nextRecord = next;
  const previousKeys = Object.keys(previousRecord);
  const nextKeys = Object.keys(nextRecord);
  if (previousKeys.length !== nextKeys.length) return false;
  for (const key of previousKeys) {
    if (!Object.prototype.hasOwnProperty.call(nextRecord, key)) return false;
    const previousValue = previousRecord[key];
    const nextValue = nextRecord[key];
    if (key === messagesKey && Array.isArray(previousValue) && Array.isArray(nextValue)) continue;
    if (!Object.is(previousValue, nextValue)) return false;
  }
  return true;
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/optimistic-input.js
function isBaseMessageInstance(value) {
  return value != null && typeof value.getType === "function";
}
function serializeUpdateMessages(update, messagesKey) {
  if (Array.isArray(update)) return update.map((entry) => Array.isArray(entry) && entry[0] === messagesKey ? [entry[0], serializeMessageValue(entry[1])] : entry);
  if (!(messagesKey in update)) return update;
  return {
    ...update,
    [messagesKey]: serializeMessageValue(update[messagesKey])
  };
}
function serializeMessageValue(value) {
  if (isBaseMessageInstance(value)) return toMessageDict(value);
  if (Array.isArray(value)) return value.map((item) => isBaseMessageInstance(item) ? toMessageDict(item) : item);
  return value;
}
function extractId(value) {
  const id = value == null ? void 0 : value.id;
  return typeof id === "string" && id.length > 0 ? id : void 0;
}
function toEntryArray(value) {
  if (Array.isArray(value)) return value;
  return [value];
}
function toDispatchDict(entry, id) {
  if (typeof entry === "string") return {
    type: "human",
    content: entry,
    id
  };
  if (isBaseMessageInstance(entry)) return {
    ...toMessageDict(entry),
    id
  };
  return {
    ...entry,
    id
  };
}
function prepareOptimisticInput(raw, messagesKey, mintId) {
  const dispatchInput = { ...raw };
  const extraValues = {};
  for (const key of Object.keys(raw)) if (key !== messagesKey) extraValues[key] = raw[key];
  const echoedIds = [];
  const messagesValue = raw[messagesKey];
  if (messagesValue == null) return {
    dispatchInput,
    optimisticMessages: [],
    echoedIds,
    extraValues
  };
  const entries = toEntryArray(messagesValue);
  const dispatchEntries = [];
  const optimisticDicts = [];
  for (const entry of entries) {
    if (!(typeof entry === "string" || isBaseMessageInstance(entry) || entry != null && typeof entry === "object" && !Array.isArray(entry))) {
      dispatchEntries.push(entry);
      continue;
    }
    const id = extractId(entry) ?? mintId();
    const dict = toDispatchDict(entry, id);
    dispatchEntries.push(dict);
    optimisticDicts.push(dict);
    echoedIds.push(id);
  }
  dispatchInput[messagesKey] = dispatchEntries;
  return {
    dispatchInput,
    optimisticMessages: ensureMessageInstances(optimisticDicts),
    echoedIds,
    extraValues
  };
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/submit-coordinator.js
function terminalReason(event) {
  if (event === "completed") return "success";
  if (event === "failed") return "error";
  if (event === "interrupted") return "interrupt";
  return "stopped";
}
var EMPTY_QUEUE = Object.freeze([]);
var _options, _rootStore, _queueStore, _getDisposed, _getCurrentThreadId, _setCurrentThreadId, _rememberSelfCreatedThreadId, _isSelfCreatedThreadId, _forgetSelfCreatedThreadId, _hydrate, _ensureThread, _startDeferredRootPump, _abandonDeferredRootPump, _waitForRootPumpReady, _awaitNextTerminal, _awaitResumedRunTerminal, _onSubmitStart, _onRunStart, _onRunCreated, _onRunCompleted, _onRunEnd, _beginOptimistic, _settleOptimistic, _runAbort, _SubmitCoordinator_instances, enqueueSubmission_fn, drainQueue_fn, _a15;
var SubmitCoordinator = (_a15 = class {
  constructor(params) {
    __privateAdd(this, _SubmitCoordinator_instances);
    /** Controller-level options forwarded into `submitRun` / callbacks. */
    __privateAdd(this, _options);
    /** Root snapshot store; written for `isLoading`, `error`, `interrupts`. */
    __privateAdd(this, _rootStore);
    /** Pending submissions awaiting the active run to terminate. */
    __privateAdd(this, _queueStore);
    /** Probes the controller's `disposed` flag from deferred work. */
    __privateAdd(this, _getDisposed);
    /** Reads the controller's currently-bound thread id. */
    __privateAdd(this, _getCurrentThreadId);
    /** Updates the controller's thread id (used when minting a new id). */
    __privateAdd(this, _setCurrentThreadId);
    /** Records a thread id we created client-side so hydrate can skip a 404 round-trip. */
    __privateAdd(this, _rememberSelfCreatedThreadId);
    /** True when the id is pending server-side create (minted or hydrate 404). */
    __privateAdd(this, _isSelfCreatedThreadId);
    /** Drops a thread id from the self-created set once it's committed server-side. */
    __privateAdd(this, _forgetSelfCreatedThreadId);
    /** Triggers a hydrate on the controller (used by `options.threadId` rebinds). */
    __privateAdd(this, _hydrate);
    /** Lazily creates / returns the active {@link ThreadStream}. */
    __privateAdd(this, _ensureThread);
    /** Starts the previously-deferred root pump after a self-created thread commits. */
    __privateAdd(this, _startDeferredRootPump);
    /** Abandons a deferred root pump after a self-created dispatch fails. */
    __privateAdd(this, _abandonDeferredRootPump);
    /** Resolves once the controller's root subscription pump is up. */
    __privateAdd(this, _waitForRootPumpReady);
    /** Resolves on the next root terminal lifecycle (or on abort). */
    __privateAdd(this, _awaitNextTerminal);
    /**
    * Resolves on the resumed run's terminal, skipping stale `interrupted`
    * events from the run being resumed (see {@link dispatchResume}).
    */
    __privateAdd(this, _awaitResumedRunTerminal);
    /** Called once at the start of every {@link submit} invocation. */
    __privateAdd(this, _onSubmitStart);
    /** Marks that a local run dispatch is now active. */
    __privateAdd(this, _onRunStart);
    /** Records a server-accepted local run id and fires `onCreated`. */
    __privateAdd(this, _onRunCreated);
    /** Fires `onCompleted` for the local run lifecycle. */
    __privateAdd(this, _onRunCompleted);
    /** Marks the local run dispatch lifecycle as settled. */
    __privateAdd(this, _onRunEnd);
    /**
    * Apply a submit input optimistically before dispatch. Returns the
    * id-injected payload to dispatch plus a handle for terminal
    * reconciliation, or `undefined` when optimistic UI is disabled / no
    * echo applies (dispatch the raw input).
    */
    __privateAdd(this, _beginOptimistic);
    /** Reconcile optimistic state when a run terminates. */
    __privateAdd(this, _settleOptimistic);
    /**
    * Active submission's abort controller. `undefined` between submits.
    *
    * Used both for `multitaskStrategy: "rollback"` (abort the previous
    * controller's signal) and `stop()` (abort the current one without
    * starting a new one).
    */
    __privateAdd(this, _runAbort);
    __privateSet(this, _options, params.options);
    __privateSet(this, _rootStore, params.rootStore);
    __privateSet(this, _queueStore, params.queueStore);
    __privateSet(this, _getDisposed, params.getDisposed);
    __privateSet(this, _getCurrentThreadId, params.getCurrentThreadId);
    __privateSet(this, _setCurrentThreadId, params.setCurrentThreadId);
    __privateSet(this, _rememberSelfCreatedThreadId, params.rememberSelfCreatedThreadId);
    __privateSet(this, _isSelfCreatedThreadId, params.isSelfCreatedThreadId);
    __privateSet(this, _forgetSelfCreatedThreadId, params.forgetSelfCreatedThreadId);
    __privateSet(this, _hydrate, params.hydrate);
    __privateSet(this, _ensureThread, params.ensureThread);
    __privateSet(this, _startDeferredRootPump, params.startDeferredRootPump);
    __privateSet(this, _abandonDeferredRootPump, params.abandonDeferredRootPump);
    __privateSet(this, _waitForRootPumpReady, params.waitForRootPumpReady);
    __privateSet(this, _awaitNextTerminal, params.awaitNextTerminal);
    __privateSet(this, _awaitResumedRunTerminal, params.awaitResumedRunTerminal);
    __privateSet(this, _onSubmitStart, params.onSubmitStart ?? (() => void 0));
    __privateSet(this, _onRunStart, params.onRunStart ?? (() => void 0));
    __privateSet(this, _onRunCreated, params.onRunCreated ?? (() => void 0));
    __privateSet(this, _onRunCompleted, params.onRunCompleted ?? (() => void 0));
    __privateSet(this, _onRunEnd, params.onRunEnd ?? (() => void 0));
    __privateSet(this, _beginOptimistic, params.beginOptimistic ?? (() => void 0));
    __privateSet(this, _settleOptimistic, params.settleOptimistic ?? (() => void 0));
  }
  /**
  * Submit input to the active thread.
  *
  * Honours {@link StreamSubmitOptions.multitaskStrategy}:
  *
  *   - `"rollback"` (default) — aborts any in-flight run and
  *     dispatches immediately.
  *   - `"reject"`              — throws synchronously when a run is
  *     already in flight.
  *   - `"enqueue"`             — defers via {@link #enqueueSubmission};
  *     the call returns without dispatching.
  *   - `"interrupt"`           — falls through to the default path
  *
  * Errors are routed through both the per-submit `onError` callback
  * and `rootStore.error`. Aborts (controller dispose / rollback) are
  * silently dropped.
  *
  * To resume a pending interrupt, use {@link StreamController.respond}
  * instead of `submit()`.
  *
  * @param input   - Input payload for the run.
  * @param options - Per-submit options (config, metadata, callbacks,
  *   strategy, etc).
  */
  async submit(input, options) {
    var _a17, _b, _c, _d;
    if (__privateGet(this, _getDisposed).call(this)) return;
    const overrideThreadId = options == null ? void 0 : options.threadId;
    if (overrideThreadId !== void 0 && overrideThreadId !== __privateGet(this, _getCurrentThreadId).call(this)) await __privateGet(this, _hydrate).call(this, overrideThreadId);
    const wasSelfCreated = __privateGet(this, _getCurrentThreadId).call(this) == null;
    if (wasSelfCreated) {
      const threadId = v7();
      __privateGet(this, _setCurrentThreadId).call(this, threadId);
      __privateGet(this, _rememberSelfCreatedThreadId).call(this, threadId);
      (_b = (_a17 = __privateGet(this, _options)).onThreadId) == null ? void 0 : _b.call(_a17, threadId);
      __privateGet(this, _rootStore).setState((s) => ({
        ...s,
        threadId
      }));
    }
    const currentThreadId = __privateGet(this, _getCurrentThreadId).call(this);
    if (currentThreadId == null) return;
    const pendingServerCreate = wasSelfCreated || __privateGet(this, _isSelfCreatedThreadId).call(this, currentThreadId);
    const thread = __privateGet(this, _ensureThread).call(this, currentThreadId, pendingServerCreate);
    const activeThreadId = currentThreadId;
    const strategy = (options == null ? void 0 : options.multitaskStrategy) ?? "rollback";
    const hasActiveRun = !wasSelfCreated && __privateGet(this, _runAbort) != null && !__privateGet(this, _runAbort).signal.aborted;
    if (hasActiveRun && strategy === "reject") throw new Error("submit() rejected: a run is already in flight and multitaskStrategy is 'reject'.");
    if (hasActiveRun && strategy === "enqueue") {
      __privateMethod(this, _SubmitCoordinator_instances, enqueueSubmission_fn).call(this, input, options);
      return;
    }
    __privateGet(this, _onSubmitStart).call(this);
    (_c = __privateGet(this, _runAbort)) == null ? void 0 : _c.abort();
    const abort = new AbortController();
    __privateSet(this, _runAbort, abort);
    __privateGet(this, _rootStore).setState((s) => ({
      ...s,
      interrupts: [],
      interrupt: void 0,
      error: void 0,
      isLoading: true
    }));
    let optimisticHandle;
    let dispatchInput = input;
    let createdRunId;
    let pendingCompletionReason;
    let completionNotified = false;
    let settleEvent;
    const notifyCompletion = (reason) => {
      if (completionNotified) return;
      if (createdRunId == null) {
        pendingCompletionReason = reason;
        return;
      }
      completionNotified = true;
      __privateGet(this, _onRunCompleted).call(this, reason, createdRunId);
    };
    const reportError = (error) => {
      var _a18;
      if (abort.signal.aborted) return;
      __privateGet(this, _rootStore).setState((s) => ({
        ...s,
        error
      }));
      try {
        (_a18 = options == null ? void 0 : options.onError) == null ? void 0 : _a18.call(options, error);
      } catch {
      }
    };
    try {
      const prepared = __privateGet(this, _beginOptimistic).call(this, input);
      if (prepared != null) {
        optimisticHandle = prepared.handle;
        dispatchInput = prepared.dispatchInput;
      }
      await __privateGet(this, _waitForRootPumpReady).call(this);
      const boundConfig = bindThreadConfig(options == null ? void 0 : options.config, currentThreadId);
      const terminalPromise = __privateGet(this, _awaitNextTerminal).call(this, abort.signal);
      __privateGet(this, _onRunStart).call(this);
      let terminalSettled = false;
      let terminal;
      const commandPromise = thread.submitRun({
        input: dispatchInput ?? null,
        config: boundConfig,
        metadata: (options == null ? void 0 : options.metadata) ?? void 0,
        forkFrom: options == null ? void 0 : options.forkFrom,
        multitaskStrategy: (options == null ? void 0 : options.multitaskStrategy) === "enqueue" ? "enqueue" : options == null ? void 0 : options.multitaskStrategy
      });
      commandPromise.then(() => {
        __privateGet(this, _startDeferredRootPump).call(this);
        __privateGet(this, _forgetSelfCreatedThreadId).call(this, activeThreadId);
      }, () => {
        if (pendingServerCreate) __privateGet(this, _abandonDeferredRootPump).call(this);
      });
      const notifyCreated = (result) => {
        if (typeof result.run_id !== "string") return;
        createdRunId = result.run_id;
        __privateGet(this, _onRunCreated).call(this, createdRunId);
        if (pendingCompletionReason != null) notifyCompletion(pendingCompletionReason);
      };
      const first = await Promise.race([terminalPromise.then((value) => ({
        type: "terminal",
        value
      })), commandPromise.then((result) => ({
        type: "command",
        result
      }), (error) => ({
        type: "error",
        error
      }))]);
      if (first.type === "error") throw first.error;
      if (first.type === "command") notifyCreated(first.result);
      else {
        terminal = first.value;
        terminalSettled = true;
        commandPromise.then(notifyCreated).catch((error) => {
          if (!terminalSettled) reportError(error);
        });
      }
      terminal ?? (terminal = await terminalPromise);
      terminalSettled = true;
      settleEvent = terminal.event;
      if (terminal.event === "failed" && !abort.signal.aborted) {
        const runError = new Error(terminal.error ?? "Run failed with no error message");
        __privateGet(this, _rootStore).setState((s) => ({
          ...s,
          error: runError
        }));
        try {
          (_d = options == null ? void 0 : options.onError) == null ? void 0 : _d.call(options, runError);
        } catch {
        }
      }
      notifyCompletion(terminalReason(terminal.event));
    } catch (error) {
      if (!abort.signal.aborted) settleEvent = "failed";
      reportError(error);
    } finally {
      __privateGet(this, _rootStore).setState((s) => ({
        ...s,
        isLoading: false
      }));
      if (__privateGet(this, _runAbort) === abort) __privateSet(this, _runAbort, void 0);
      if (optimisticHandle != null) __privateGet(this, _settleOptimistic).call(this, optimisticHandle, abort.signal.aborted ? "aborted" : settleEvent ?? "failed");
      __privateGet(this, _onRunEnd).call(this);
      setTimeout(() => __privateMethod(this, _SubmitCoordinator_instances, drainQueue_fn).call(this), 0);
    }
  }
  /**
  * Surface a *resumed* run's failure the same way {@link submit} surfaces
  * a fresh run's failure — by writing it to the reactive
  * {@link RootSnapshot.error} slot.
  *
  * `respond()` / `respondAll()` dispatch their `input.respond` command on
  * the controller directly (they target a specific interrupt, so they
  * cannot go through {@link submit}, which only does `run.start`). The
  * resumed run therefore never passed through the submit lifecycle that
  * populates `rootStore.error` — only the persistent lifecycle listener
  * observed it, and that listener drives `isLoading` alone. Without this,
  * a resumed run that fails (e.g. a missing model key surfaced after the
  * user approves an interrupt) would flip `isLoading` back to `false`
  * with `error` left untouched, so `stream.error`-driven UIs (error
  * banners, API-key retry prompts) would silently miss it.
  *
  * The `dispatch` thunk is awaited, so a dispatch failure rejects the
  * caller's `respond()` *and* lands in `rootStore.error`. The resumed
  * run's terminal is watched in the **background** so the returned promise
  * still settles on dispatch — preserving the resume command's
  * resolve-on-dispatch contract (and avoiding a hang when no terminal is
  * ever emitted, e.g. in unit tests).
  *
  * Reuses the shared {@link #runAbort} slot, so `stop()`, `dispose()`, and
  * a rollback `submit()` all cancel the terminal watch (no spurious error
  * on user-initiated cancel) and treat the resumed run as the active run.
  *
  * The terminal watch uses {@link #awaitResumedRunTerminal}, which skips
  * stale `interrupted` terminals from the run being resumed (they can reach
  * the pump after `input.requested` but before `respondInput` calls
  * `#prepareForNextRun`) and only accepts a later `interrupted` once a
  * root `running` lifecycle for the resumed run has been observed.
  *
  * @param dispatch - Sends the `input.respond` command (and marks the
  *   targeted interrupt resolved). Invoked after the terminal watch is
  *   armed.
  * @param optimisticHandle - Optional handle from an optimistic `update`
  *   applied before dispatch (HITL "push card into state + resume"). Settled
  *   on the resumed run's terminal — pending messages flip to `sent` and
  *   un-echoed non-message keys roll back on failure — exactly like the
  *   `submit()` optimistic lifecycle. A dispatch failure settles it `failed`.
  */
  async dispatchResume(dispatch, optimisticHandle) {
    var _a17;
    if (__privateGet(this, _getDisposed).call(this)) return;
    __privateGet(this, _onSubmitStart).call(this);
    (_a17 = __privateGet(this, _runAbort)) == null ? void 0 : _a17.abort();
    const abort = new AbortController();
    __privateSet(this, _runAbort, abort);
    __privateGet(this, _rootStore).setState((s) => s.error === void 0 ? s : {
      ...s,
      error: void 0
    });
    const reportError = (error) => {
      if (abort.signal.aborted) return;
      __privateGet(this, _rootStore).setState((s) => ({
        ...s,
        error
      }));
    };
    let optimisticSettled = false;
    const settleOptimisticOnce = (event) => {
      if (optimisticSettled || optimisticHandle == null) return;
      optimisticSettled = true;
      __privateGet(this, _settleOptimistic).call(this, optimisticHandle, event);
    };
    __privateGet(this, _awaitResumedRunTerminal).call(this, abort.signal).then((terminal) => {
      if (__privateGet(this, _runAbort) === abort) __privateSet(this, _runAbort, void 0);
      if (terminal.event === "failed" && !abort.signal.aborted) reportError(new Error(terminal.error ?? "Run failed with no error message"));
      settleOptimisticOnce(abort.signal.aborted ? "aborted" : terminal.event);
      setTimeout(() => __privateMethod(this, _SubmitCoordinator_instances, drainQueue_fn).call(this), 0);
    });
    try {
      await dispatch();
    } catch (error) {
      reportError(error);
      settleOptimisticOnce("failed");
      if (__privateGet(this, _runAbort) === abort) __privateSet(this, _runAbort, void 0);
      throw error;
    }
  }
  /**
  * Abort the current run (if any) and force `isLoading=false`.
  *
  * Client-side only — server-side cancel is handled by
  * {@link StreamController.stop} before this is invoked.
  */
  async stop() {
    this.abortActiveRun();
    __privateGet(this, _rootStore).setState((s) => ({
      ...s,
      isLoading: false
    }));
  }
  /**
  * Abort the current run without forcing the loading flag down.
  *
  * Used by {@link StreamController.dispose}: disposal already tears
  * down the root store, so flipping `isLoading` here is unnecessary
  * and would race the dispose path.
  */
  abortActiveRun() {
    var _a17;
    (_a17 = __privateGet(this, _runAbort)) == null ? void 0 : _a17.abort();
    __privateSet(this, _runAbort, void 0);
  }
  /**
  * Cancel a queued submission by id.
  *
  * @param id - Client-side queue entry id to remove.
  * @returns `true` when the entry was found and dropped, `false` otherwise.
  */
  async cancelQueued(id) {
    const current = __privateGet(this, _queueStore).getSnapshot();
    const next = current.filter((entry) => entry.id !== id);
    if (next.length === current.length) return false;
    __privateGet(this, _queueStore).setState(() => next);
    return true;
  }
  /**
  * Drop every queued submission. Server-side cancel arrives with A0.3.
  */
  async clearQueue() {
    __privateGet(this, _queueStore).setState(() => EMPTY_QUEUE);
  }
}, _options = new WeakMap(), _rootStore = new WeakMap(), _queueStore = new WeakMap(), _getDisposed = new WeakMap(), _getCurrentThreadId = new WeakMap(), _setCurrentThreadId = new WeakMap(), _rememberSelfCreatedThreadId = new WeakMap(), _isSelfCreatedThreadId = new WeakMap(), _forgetSelfCreatedThreadId = new WeakMap(), _hydrate = new WeakMap(), _ensureThread = new WeakMap(), _startDeferredRootPump = new WeakMap(), _abandonDeferredRootPump = new WeakMap(), _waitForRootPumpReady = new WeakMap(), _awaitNextTerminal = new WeakMap(), _awaitResumedRunTerminal = new WeakMap(), _onSubmitStart = new WeakMap(), _onRunStart = new WeakMap(), _onRunCreated = new WeakMap(), _onRunCompleted = new WeakMap(), _onRunEnd = new WeakMap(), _beginOptimistic = new WeakMap(), _settleOptimistic = new WeakMap(), _runAbort = new WeakMap(), _SubmitCoordinator_instances = new WeakSet(), /**
* Append a submission to the queue without dispatching.
*
* The drained submission is later run via {@link #drainQueue} after
* the active run terminates.
*/
enqueueSubmission_fn = function(input, options) {
  const entry = {
    id: v7(),
    values: input ?? void 0,
    options,
    createdAt: /* @__PURE__ */ new Date()
  };
  __privateGet(this, _queueStore).setState((current) => [...current, entry]);
}, /**
* Drain the head of the queue if no run is active.
*
* Called from the `finally` block of `submit()` on the next
* macrotask (so the just-finished run's state flushes first).
* Strips the strategy off the dequeued options to prevent infinite
* re-enqueueing.
*/
drainQueue_fn = function() {
  if (__privateGet(this, _getDisposed).call(this)) return;
  if (__privateGet(this, _runAbort) != null && !__privateGet(this, _runAbort).signal.aborted) return;
  const current = __privateGet(this, _queueStore).getSnapshot();
  if (current.length === 0) return;
  const [next, ...rest] = current;
  __privateGet(this, _queueStore).setState(() => rest);
  const nextOptions = {
    ...next.options ?? {},
    multitaskStrategy: void 0
  };
  this.submit(next.values, nextOptions).catch(() => {
  });
}, _a15);
function bindThreadConfig(config, threadId) {
  const base = config != null && typeof config === "object" ? config : {};
  const configurable = base.configurable != null && typeof base.configurable === "object" ? base.configurable : {};
  return {
    ...base,
    configurable: {
      ...configurable,
      thread_id: threadId
    }
  };
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/tool-calls.js
function upsertToolCall(current, next) {
  const snapshot = { ...next };
  const idx = current.findIndex((toolCall) => toolCall.callId === next.callId);
  if (idx < 0) return [...current, snapshot];
  const updated = current.slice();
  updated[idx] = snapshot;
  return updated;
}
function reconcileToolCallsFromMessages(toolCalls, messages) {
  let updated;
  for (const message of messages) {
    if (!ToolMessage.isInstance(message)) continue;
    const callId = message.tool_call_id;
    if (typeof callId !== "string" || callId.length === 0) continue;
    const currentToolCalls = updated ?? toolCalls;
    const idx = currentToolCalls.findIndex((toolCall) => toolCall.callId === callId);
    if (idx < 0) continue;
    const current = currentToolCalls[idx];
    if (current.status === "finished" && current.output != null) continue;
    const output = parseToolOutput(message.content);
    if (output == null) continue;
    updated = upsertToolCall(currentToolCalls, {
      ...current,
      output,
      status: "finished",
      error: void 0
    });
  }
  return updated ?? toolCalls;
}
function seedToolCallsFromMessages(namespace, messages) {
  let toolCalls = [];
  for (const message of messages) {
    const raw = message.tool_calls;
    if (!Array.isArray(raw)) continue;
    for (const toolCall of raw) {
      if (toolCall == null || typeof toolCall !== "object") continue;
      const record = toolCall;
      if (typeof record.id !== "string" || record.id.length === 0) continue;
      if (typeof record.name !== "string" || record.name.length === 0) continue;
      if (namespace.length > 0 && record.name === "task") continue;
      toolCalls = upsertToolCall(toolCalls, {
        id: record.id,
        callId: record.id,
        name: record.name,
        namespace: [...namespace, `tools:${record.id}`],
        input: record.args ?? {},
        args: record.args ?? {},
        output: null,
        status: "running",
        error: void 0
      });
    }
  }
  return reconcileToolCallsFromMessages(toolCalls, messages);
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/controller.js
function isAbortLikeError(error) {
  if (error == null || typeof error !== "object") return false;
  const maybeError = error;
  return maybeError.name === "AbortError" || typeof maybeError.message === "string" && maybeError.message.includes("aborted");
}
function lifecycleReason(event) {
  if (event === "completed") return "success";
  if (event === "failed") return "error";
  if (event === "interrupted") return "interrupt";
  return null;
}
function isThreadStateActive(state) {
  if (state == null) return true;
  if (!Array.isArray(state.next)) return true;
  if (state.next.length > 0) return true;
  if (Array.isArray(state.tasks)) for (const task of state.tasks) {
    const interrupts = task == null ? void 0 : task.interrupts;
    if (Array.isArray(interrupts) && interrupts.length > 0) return true;
  }
  return false;
}
var ROOT_NAMESPACE = [];
var ROOT_PUMP_CHANNELS = [
  "values",
  "checkpoints",
  "lifecycle",
  "input",
  "messages",
  "tools"
];
var PARKED_INTERRUPT_SETTLE_MS = 5e3;
var PARKED_INTERRUPT_SETTLE_POLL_MS = 500;
var _options2, _messagesKey2, _subagents, _subgraphs, _messageMetadata, _thread2, _currentThreadId, _rootSubscription, _rootPump, _rootPumpReady, _rootPumpDeferred, _threadEventUnsubscribe, _threadErrorUnsubscribe, _disposed, _pendingDisposeTimer, _resolvedInterrupts, _hydratedActiveInterruptIds, _interruptReplayThroughSeq, _pendingHydrationInterruptEvents, _settleParkedInterruptsPromise, _pendingInterruptEvents, _interruptCommandPending, _submitGeneration, _rootPumpGeneration, _selfCreatedThreadIds, _missingThreadIds, _namespaceResolves, _discoverySeedPromise, _scopedHistorySeeds, _rootEventListeners, _rootBus2, _activeRunId, _localRunDepth, _sawValuesForRun, _hydrationPromise, _resolveHydration, _rejectHydration, _rootToolAssembler, _rootMessages, _lifecycleLoading, _submitter, _threadListeners, _StreamController_instances, createHydrationPromise_fn, resetHydrationPromise_fn, fetchHydrationState_fn, seedDiscoveryFromHistory_fn, trySeedProjectionFromHistory_fn, skipDefaultSubagentProjection_fn, getScopedHistorySeed_fn, primeScopedHistorySeedsFromHistory_fn, markLocalRunStart_fn, markLocalRunEnd_fn, notifyCreated_fn, notifyCompleted_fn, _runLifecycleListener, cancelPendingDispose_fn, createInitialSnapshot_fn, ensureThread_fn, startDeferredRootPump_fn, abandonDeferredRootPump_fn, teardownThread_fn, usesEventStreamTransport_fn, startRootPump_fn, onWildcardEvent_fn, onRootEvent_fn, beginOptimistic_fn, resolveDispatchUpdate_fn, settleOptimistic_fn, applyValues_fn, recordInterrupt_fn, advanceInterruptReplayBarrier_fn, discardPendingInterruptEvents_fn, resolveNamespaceForInterruptId_fn, markInterruptResolvedInRootStore_fn, reconcilePendingInterruptsFromServer_fn, settleParkedInterruptsOnTerminal_fn, settleParkedInterrupts_fn, awaitNextTerminal_fn, awaitResumedRunTerminal_fn, awaitRootTerminal_fn, resolveInterruptForResume_fn, notifyThreadListeners_fn, _a16;
var StreamController = (_a16 = class {
  /**
  * Create a controller around a LangGraph client and optional initial thread.
  *
  * @param options - Runtime configuration, client, thread id, and initial state.
  */
  constructor(options) {
    __privateAdd(this, _StreamController_instances);
    __publicField(this, "rootStore");
    __publicField(this, "subagentStore");
    __publicField(this, "subgraphStore");
    __publicField(this, "subgraphByNodeStore");
    __publicField(this, "messageMetadataStore");
    __publicField(this, "queueStore");
    __publicField(this, "registry");
    __privateAdd(this, _options2);
    __privateAdd(this, _messagesKey2);
    __privateAdd(this, _subagents, new SubagentDiscovery());
    __privateAdd(this, _subgraphs, new SubgraphDiscovery());
    __privateAdd(this, _messageMetadata, new MessageMetadataTracker());
    __privateAdd(this, _thread2);
    __privateAdd(this, _currentThreadId);
    __privateAdd(this, _rootSubscription);
    __privateAdd(this, _rootPump);
    __privateAdd(this, _rootPumpReady);
    /**
    * `true` while a self-created thread has its root pump deferred until
    * the first `submitRun` / `respondInput` commits the thread row
    * server-side. See `#ensureThread` and `#startDeferredRootPump`.
    */
    __privateAdd(this, _rootPumpDeferred, false);
    __privateAdd(this, _threadEventUnsubscribe);
    __privateAdd(this, _threadErrorUnsubscribe);
    __privateAdd(this, _disposed, false);
    __privateAdd(this, _pendingDisposeTimer, null);
    /**
    * Interrupt ids this controller has locally marked resolved via
    * {@link respond} / {@link respondAll}. Used only to suppress
    * *historical* SSE replay of those `input.requested` events (there
    * is no `input.responded` protocol event). A live event after the
    * resume barrier clears an id from this set so an interrupt raised
    * again by a later run can reappear on `rootStore.interrupts`.
    */
    __privateAdd(this, _resolvedInterrupts, /* @__PURE__ */ new Set());
    /**
    * Set of interrupt IDs the server reports as currently *active* on
    * the thread (from `state.tasks[].interrupts`). Populated during
    * {@link hydrate} from `client.threads.getState()` and used as a
    * strict allowlist when processing replayed `input.requested`
    * events from the persistent SSE subscription. Without this guard,
    * SSE replay re-adds historically-requested interrupts that have
    * since been resolved (no `input.responded` event exists in the
    * protocol, so the SDK has no other way to tell replay from live
    * for an idle thread). After a command is accepted, events newer
    * than {@link #interruptReplayThroughSeq} bypass the allowlist.
    */
    __privateAdd(this, _hydratedActiveInterruptIds, null);
    /**
    * Highest event sequence already applied when the latest run command
    * was accepted. Interrupts outside the hydrate-time allowlist remain
    * filtered through this sequence, while newer events are live output
    * from the newly-started run and must be accepted.
    */
    __privateAdd(this, _interruptReplayThroughSeq);
    /** Unknown inputs waiting to be classified as live or replayed history. */
    __privateAdd(this, _pendingHydrationInterruptEvents, []);
    __privateAdd(this, _settleParkedInterruptsPromise);
    /**
    * Unknown interrupt events received between local command dispatch and its
    * response. The response supplies the sequence barrier needed to classify
    * each event as historical replay or live output from the new run.
    */
    __privateAdd(this, _pendingInterruptEvents, []);
    __privateAdd(this, _interruptCommandPending, false);
    /**
    * Monotonic counter bumped at the start of each `submit()` and used
    * by {@link hydrate} to skip its post-fetch allowlist write when a
    * submit started while the state fetch was in flight. Without this
    * guard, a submit-then-hydrate race could re-install a stale
    * allowlist that filters out genuinely-new live interrupts emitted
    * by the just-started run.
    */
    __privateAdd(this, _submitGeneration, 0);
    /**
    * Monotonic counter bumped at the start of each `#teardownThread`.
    * The root pump captures the generation when it starts and drops
    * any event whose generation no longer matches — including queued
    * events that `SubscriptionHandle.close()` still drains after the
    * snapshot has already been cleared by `hydrate()`.
    */
    __privateAdd(this, _rootPumpGeneration, 0);
    /**
    * Thread ids this controller minted client-side on first `submit()`.
    * `hydrate()` skips `threads.getState()` for these — we know there
    * is nothing checkpointed yet. Cleared once dispatch commits the
    * thread server-side.
    */
    __privateAdd(this, _selfCreatedThreadIds, /* @__PURE__ */ new Set());
    /**
    * Caller-supplied thread ids that 404'd on hydrate. Unlike
    * {@link #selfCreatedThreadIds}, these are revalidated on every
    * hydrate: another client may create the same id between visits.
    * While marked missing, `submit()` still defers the root SSE pump
    * until `run.start` / `commands` commits the row — joining
    * `/stream/events` beforehand leaves a dead subscription on
    * langgraph_api's in-mem runtime.
    */
    __privateAdd(this, _missingThreadIds, /* @__PURE__ */ new Set());
    /**
    * In-flight per-subagent namespace resolutions, keyed by tool-call
    * id. De-dupes concurrent {@link resolveSubagentNamespace} calls so
    * re-renders / multiple consumers of the same subagent don't issue
    * parallel `getHistory` walks.
    */
    __privateAdd(this, _namespaceResolves, /* @__PURE__ */ new Map());
    /**
    * In-flight hydrate-time discovery seed ({@link #seedDiscoveryFromHistory}):
    * a single bounded `getHistory` page that bulk-promotes every
    * still-default subagent namespace and seeds subgraph hosts. Per-card
    * {@link resolveSubagentNamespace} calls await this shared promise
    * instead of each firing their own `getHistory` walk, so opening N
    * cards right after reconnect costs one history read, not N. Re-armed
    * per hydrate cycle and cleared once it settles.
    */
    __privateAdd(this, _discoverySeedPromise);
    __privateAdd(this, _scopedHistorySeeds, /* @__PURE__ */ new Map());
    __privateAdd(this, _rootEventListeners, /* @__PURE__ */ new Set());
    __privateAdd(this, _rootBus2);
    __privateAdd(this, _activeRunId);
    __privateAdd(this, _localRunDepth, 0);
    /**
    * `true` once a root `values` event has been applied for the current
    * optimistic run. Reset to `false` in {@link #beginOptimistic} and
    * read in {@link #settleOptimistic}: when a run terminates without
    * the server ever echoing a `values` snapshot, optimistically-merged
    * non-message keys are rolled back to their pre-submit values.
    */
    __privateAdd(this, _sawValuesForRun, false);
    /**
    * Single-shot hydration promise. Exposed via `hydrationPromise`
    * so Suspense wrappers can throw it until the first hydrate
    * completes (resolve) or fails (reject). Reset whenever a new
    * hydrate cycle begins so `<Suspense>` boundaries re-suspend on
    * thread switch.
    */
    __privateAdd(this, _hydrationPromise);
    __privateAdd(this, _resolveHydration);
    __privateAdd(this, _rejectHydration);
    /**
    * Tool assembler lives for the lifetime of a thread; reset on
    * rebind so a fresh thread starts with a clean slate.
    */
    __privateAdd(this, _rootToolAssembler, new ToolCallAssembler());
    __privateAdd(this, _rootMessages);
    __privateAdd(this, _lifecycleLoading);
    __privateAdd(this, _submitter);
    __privateAdd(this, _threadListeners, /* @__PURE__ */ new Set());
    __privateAdd(this, _runLifecycleListener, (event) => {
      if (__privateGet(this, _localRunDepth) > 0) return;
      if (event.method !== "lifecycle") return;
      if (!isRootNamespace(event.params.namespace)) return;
      if (!this.rootStore.getSnapshot().isLoading) return;
      const lifecycle = event.params.data;
      const reason = lifecycleReason(lifecycle == null ? void 0 : lifecycle.event);
      if (reason == null) return;
      __privateMethod(this, _StreamController_instances, notifyCompleted_fn).call(this, reason);
    });
    __privateSet(this, _options2, options);
    __privateSet(this, _messagesKey2, options.messagesKey ?? "messages");
    __privateSet(this, _currentThreadId, options.threadId ?? null);
    __privateSet(this, _rootBus2, {
      channels: ROOT_PUMP_CHANNELS,
      subscribe: (listener) => {
        __privateGet(this, _rootEventListeners).add(listener);
        return () => {
          __privateGet(this, _rootEventListeners).delete(listener);
        };
      },
      trySeedFromHistory: (params) => __privateMethod(this, _StreamController_instances, trySeedProjectionFromHistory_fn).call(this, params)
    });
    this.registry = new ChannelRegistry(__privateGet(this, _rootBus2));
    this.subagentStore = __privateGet(this, _subagents).store;
    this.subgraphStore = __privateGet(this, _subgraphs).store;
    this.subgraphByNodeStore = __privateGet(this, _subgraphs).byNodeStore;
    this.rootStore = new StreamStore(__privateMethod(this, _StreamController_instances, createInitialSnapshot_fn).call(this));
    __privateSet(this, _rootMessages, new RootMessageProjection({
      messagesKey: __privateGet(this, _messagesKey2),
      store: this.rootStore
    }));
    __privateSet(this, _lifecycleLoading, new LifecycleLoadingTracker({
      store: this.rootStore,
      isDisposed: () => __privateGet(this, _disposed)
    }));
    this.messageMetadataStore = __privateGet(this, _messageMetadata).store;
    this.queueStore = new StreamStore(EMPTY_QUEUE);
    __privateSet(this, _submitter, new SubmitCoordinator({
      options: __privateGet(this, _options2),
      rootStore: this.rootStore,
      queueStore: this.queueStore,
      getDisposed: () => __privateGet(this, _disposed),
      getCurrentThreadId: () => __privateGet(this, _currentThreadId),
      setCurrentThreadId: (threadId) => {
        __privateSet(this, _currentThreadId, threadId);
      },
      rememberSelfCreatedThreadId: (threadId) => {
        __privateGet(this, _selfCreatedThreadIds).add(threadId);
      },
      isSelfCreatedThreadId: (threadId) => __privateGet(this, _selfCreatedThreadIds).has(threadId) || __privateGet(this, _missingThreadIds).has(threadId),
      hydrate: (threadId) => this.hydrate(threadId),
      ensureThread: (threadId, deferRootPump) => __privateMethod(this, _StreamController_instances, ensureThread_fn).call(this, threadId, deferRootPump),
      startDeferredRootPump: () => __privateMethod(this, _StreamController_instances, startDeferredRootPump_fn).call(this),
      abandonDeferredRootPump: () => __privateMethod(this, _StreamController_instances, abandonDeferredRootPump_fn).call(this),
      forgetSelfCreatedThreadId: (threadId) => {
        __privateGet(this, _selfCreatedThreadIds).delete(threadId);
        __privateGet(this, _missingThreadIds).delete(threadId);
      },
      waitForRootPumpReady: () => __privateGet(this, _rootPumpReady),
      awaitNextTerminal: (signal) => __privateMethod(this, _StreamController_instances, awaitNextTerminal_fn).call(this, signal),
      awaitResumedRunTerminal: (signal) => __privateMethod(this, _StreamController_instances, awaitResumedRunTerminal_fn).call(this, signal),
      onSubmitStart: () => {
        __privateSet(this, _submitGeneration, __privateGet(this, _submitGeneration) + 1);
        __privateSet(this, _interruptCommandPending, __privateGet(this, _hydratedActiveInterruptIds) != null);
        __privateSet(this, _pendingInterruptEvents, __privateGet(this, _pendingHydrationInterruptEvents));
        __privateSet(this, _pendingHydrationInterruptEvents, []);
      },
      onRunStart: () => __privateMethod(this, _StreamController_instances, markLocalRunStart_fn).call(this),
      onRunCreated: (runId) => {
        __privateMethod(this, _StreamController_instances, advanceInterruptReplayBarrier_fn).call(this);
        __privateMethod(this, _StreamController_instances, notifyCreated_fn).call(this, runId);
      },
      onRunCompleted: (reason, runId) => __privateMethod(this, _StreamController_instances, notifyCompleted_fn).call(this, reason, runId),
      onRunEnd: () => {
        __privateSet(this, _interruptCommandPending, false);
        __privateMethod(this, _StreamController_instances, markLocalRunEnd_fn).call(this);
      },
      beginOptimistic: (input) => __privateMethod(this, _StreamController_instances, beginOptimistic_fn).call(this, input),
      settleOptimistic: (handle, event) => __privateMethod(this, _StreamController_instances, settleOptimistic_fn).call(this, handle, event)
    }));
    __privateSet(this, _hydrationPromise, __privateMethod(this, _StreamController_instances, createHydrationPromise_fn).call(this));
    __privateGet(this, _hydrationPromise).catch(() => void 0);
    if (__privateGet(this, _currentThreadId) != null) this.hydrate(__privateGet(this, _currentThreadId));
    else __privateGet(this, _resolveHydration).call(this);
  }
  /**
  * Promise that settles the first time {@link hydrate} finishes on
  * the current thread. Resolves on a clean hydration, rejects when
  * the thread-state fetch errors. A fresh promise is installed on
  * every thread swap so `<Suspense>` wrappers re-suspend on
  * `switchThread`.
  */
  get hydrationPromise() {
    return __privateGet(this, _hydrationPromise);
  }
  /**
  * Fetch the checkpointed thread state and seed the root snapshot.
  * Re-calling with a different `threadId` swaps the underlying
  * {@link ThreadStream}, rewires the registry to the new thread, and
  * resets assemblers.
  *
  * @param threadId - Optional replacement thread id; `null` clears the active thread.
  */
  async hydrate(threadId) {
    var _a17, _b, _c;
    if (__privateGet(this, _disposed)) return;
    const target = threadId === void 0 ? __privateGet(this, _currentThreadId) : threadId;
    const changed = target !== __privateGet(this, _currentThreadId);
    __privateSet(this, _currentThreadId, target ?? null);
    __privateSet(this, _discoverySeedPromise, void 0);
    __privateGet(this, _scopedHistorySeeds).clear();
    this.rootStore.setState((s) => ({
      ...s,
      threadId: __privateGet(this, _currentThreadId)
    }));
    if (changed) {
      __privateMethod(this, _StreamController_instances, resetHydrationPromise_fn).call(this);
      const teardown = __privateMethod(this, _StreamController_instances, teardownThread_fn).call(this);
      this.rootStore.setState(() => ({
        ...__privateMethod(this, _StreamController_instances, createInitialSnapshot_fn).call(this),
        threadId: __privateGet(this, _currentThreadId)
      }));
      this.queueStore.setState(() => EMPTY_QUEUE);
      await teardown;
    }
    if (__privateGet(this, _currentThreadId) == null) {
      this.rootStore.setState((s) => ({
        ...s,
        isThreadLoading: false
      }));
      __privateGet(this, _resolveHydration).call(this);
      return;
    }
    if (__privateGet(this, _selfCreatedThreadIds).has(__privateGet(this, _currentThreadId))) {
      this.rootStore.setState((s) => ({
        ...s,
        isThreadLoading: false
      }));
      __privateGet(this, _resolveHydration).call(this);
      return;
    }
    this.rootStore.setState((s) => ({
      ...s,
      isThreadLoading: true
    }));
    const hydratedThreadId = __privateGet(this, _currentThreadId);
    let hydrationError;
    let threadExists = false;
    let threadMissing = false;
    let threadActive = true;
    try {
      const state = await __privateMethod(this, _StreamController_instances, fetchHydrationState_fn).call(this);
      if (__privateGet(this, _disposed) || __privateGet(this, _currentThreadId) !== hydratedThreadId) return;
      threadExists = state != null;
      threadActive = isThreadStateActive(state);
      __privateGet(this, _missingThreadIds).delete(hydratedThreadId);
      if ((state == null ? void 0 : state.values) != null) {
        const checkpointId = (_a17 = state.checkpoint) == null ? void 0 : _a17.checkpoint_id;
        const parentCheckpointId = ((_b = state.parent_checkpoint) == null ? void 0 : _b.checkpoint_id) ?? void 0;
        const seedStep = (_c = state.metadata) == null ? void 0 : _c.step;
        const syntheticCheckpoint = typeof checkpointId === "string" ? {
          id: checkpointId,
          ...parentCheckpointId != null ? { parent_id: parentCheckpointId } : {},
          ...typeof seedStep === "number" ? { step: seedStep } : {}
        } : void 0;
        __privateMethod(this, _StreamController_instances, applyValues_fn).call(this, state.values, syntheticCheckpoint);
        const seedMessages = state.values[__privateGet(this, _messagesKey2)];
        if (Array.isArray(seedMessages)) {
          __privateGet(this, _subagents).seedFromCheckpointMessages(seedMessages);
          if (!threadActive) {
            const sealedIds = seedMessages.map((message) => message == null ? void 0 : message.id).filter((id) => typeof id === "string");
            if (sealedIds.length > 0) __privateGet(this, _rootMessages).sealMessageIds(sealedIds);
          }
        }
      }
      const unpersisted = __privateGet(this, _messageMetadata).unpersistedOptimisticIds();
      if (unpersisted.size > 0) {
        __privateGet(this, _rootMessages).dropOptimisticMessages(unpersisted);
        __privateGet(this, _messageMetadata).forget(unpersisted);
      }
      if (Array.isArray(state == null ? void 0 : state.tasks)) {
        const generationAtFetch = __privateGet(this, _submitGeneration);
        const { activeInterrupts, activeIds } = collectActiveInterruptsFromTasks(state.tasks);
        for (const id of activeIds) __privateGet(this, _resolvedInterrupts).delete(id);
        this.rootStore.setState((s) => ({
          ...s,
          interrupts: activeInterrupts,
          interrupt: activeInterrupts[0]
        }));
        if (__privateGet(this, _submitGeneration) === generationAtFetch) {
          __privateSet(this, _hydratedActiveInterruptIds, activeIds);
          __privateSet(this, _interruptReplayThroughSeq, void 0);
        }
      }
    } catch (error) {
      if ((error == null ? void 0 : error.status) !== 404) {
        hydrationError = error;
        this.rootStore.setState((s) => ({
          ...s,
          error
        }));
      } else threadMissing = true;
    } finally {
      this.rootStore.setState((s) => ({
        ...s,
        isThreadLoading: false
      }));
      if (hydrationError != null) __privateGet(this, _rejectHydration).call(this, hydrationError);
      else __privateGet(this, _resolveHydration).call(this);
    }
    if (threadMissing) {
      __privateGet(this, _missingThreadIds).add(hydratedThreadId);
      return;
    }
    const thread = __privateMethod(this, _StreamController_instances, ensureThread_fn).call(this, hydratedThreadId, !threadActive);
    if (threadExists && threadActive) thread.startLifecycleWatcher();
    if (threadExists) {
      const seed = __privateMethod(this, _StreamController_instances, seedDiscoveryFromHistory_fn).call(this, __privateGet(this, _currentThreadId)).finally(() => {
        if (__privateGet(this, _discoverySeedPromise) === seed) __privateSet(this, _discoverySeedPromise, void 0);
      });
      __privateSet(this, _discoverySeedPromise, seed);
    }
  }
  /**
  * Lazily resolve a single subagent's execution namespace from
  * checkpoint history. Intended call site: the first scoped
  * `useMessages` / `useToolCalls` mount for a subagent whose namespace
  * is still the default `tools:<toolCallId>`. A fallback for the
  * hydrate-time bulk seed ({@link #seedDiscoveryFromHistory}) — most
  * subagents are already promoted by the time a panel opens.
  *
  * Skips ids already promoted past default-only (SSE replay or a prior
  * resolve). Concurrent calls for the same id share one `getHistory`
  * walk via {@link #namespaceResolves}.
  *
  * @param toolCallId - Parent `task` tool-call id (the subagent's discovery key).
  */
  async resolveSubagentNamespace(toolCallId) {
    if (__privateGet(this, _disposed)) return;
    const threadId = __privateGet(this, _currentThreadId);
    if (threadId == null) return;
    if (!namespaceIsDefaultOnly(__privateGet(this, _subagents).snapshot.get(toolCallId))) return;
    const inflight = __privateGet(this, _namespaceResolves).get(toolCallId);
    if (inflight != null) return inflight;
    const run = (async () => {
      try {
        const seed = __privateGet(this, _discoverySeedPromise);
        if (seed != null) {
          await seed;
          if (__privateGet(this, _disposed) || __privateGet(this, _currentThreadId) !== threadId) return;
          if (!namespaceIsDefaultOnly(__privateGet(this, _subagents).snapshot.get(toolCallId))) return;
        }
        const map = await resolveSubagentNamespaces(__privateGet(this, _options2).client, threadId, [toolCallId], { messagesKey: __privateGet(this, _messagesKey2) });
        if (__privateGet(this, _disposed) || __privateGet(this, _currentThreadId) !== threadId) return;
        const segment = map.get(toolCallId);
        if (segment != null) __privateGet(this, _subagents).applyExecutionNamespace(toolCallId, segment);
      } catch {
      } finally {
        __privateGet(this, _namespaceResolves).delete(toolCallId);
      }
    })();
    __privateGet(this, _namespaceResolves).set(toolCallId, run);
    return run;
  }
  /**
  * Submit input to the active thread.
  *
  * To resume a pending interrupt, use {@link respond} instead.
  *
  * @param input - Input payload for a new run.
  * @param options - Per-run config, metadata, multitask behavior, and callbacks.
  */
  async submit(input, options) {
    await __privateGet(this, _submitter).submit(input, options);
  }
  /**
  * Disconnect the client from the active run and mark the controller
  * idle. By default also cancels the run server-side; pass
  * `{ cancel: false }` or call {@link disconnect} to keep the agent
  * running (join/rejoin).
  */
  async stop(options) {
    if ((options == null ? void 0 : options.cancel) ?? true) {
      const threadId = __privateGet(this, _currentThreadId);
      const runId = __privateGet(this, _activeRunId);
      if (threadId != null && runId != null) try {
        await __privateGet(this, _options2).client.runs.cancel(threadId, runId);
      } catch {
      }
    }
    await __privateGet(this, _submitter).stop();
  }
  /**
  * Disconnect the client without cancelling the run server-side.
  * Alias for `stop({ cancel: false })`.
  */
  async disconnect() {
    return this.stop({ cancel: false });
  }
  /**
  * Cancel a queued submission by id. Returns `true` when the entry
  * was found and removed, `false` otherwise.
  *
  * Today this only removes the entry from the client-side mirror —
  * once the server exposes queue cancel (roadmap A0.3) the
  * controller will additionally issue a cancel call against the
  * active transport.
  *
  * @param id - Client-side queue entry id to remove.
  */
  async cancelQueued(id) {
    return __privateGet(this, _submitter).cancelQueued(id);
  }
  /**
  * Drop every queued submission. Server-side cancel arrives with A0.3.
  */
  async clearQueue() {
    await __privateGet(this, _submitter).clearQueue();
  }
  /**
  * Respond to a single pending protocol interrupt.
  *
  * When `options.interruptId` is omitted, resolution walks
  * {@link ThreadStream.interrupts `thread.interrupts`} from newest to
  * oldest and picks the first entry whose `interruptId` has not already
  * been resolved by a prior `respond()` call. That entry may be at the
  * root (`namespace: []`) or inside a subgraph (non-empty `namespace`).
  * {@link RootSnapshot.interrupts `rootStore.interrupts`} /
  * framework `stream.interrupts` mirrors the same pending interrupts
  * (including nested namespaces) for UI rendering.
  *
  * Omitting `interruptId` is fine when exactly one interrupt is pending.
  * When several can be active (parallel subagents, fan-out, nested
  * graphs), pass an explicit `interruptId` so you resume the interrupt
  * the user acted on. `namespace` is resolved automatically from
  * `thread.interrupts` / `stream.interrupts` when omitted.
  *
  * To resume several interrupts pending at the same checkpoint in one
  * command, use {@link respondAll} — sequential single `respond()` calls
  * would not work, since the first resume starts a run, leaving the
  * others with no interrupted run to respond to.
  *
  * The server validates `namespace` against the pending interrupt. Root
  * interrupts use `namespace: []`. Subgraph interrupts carry the exact
  * tuple on each {@link Interrupt} / {@link InterruptPayload} entry.
  *
  * @param response - Payload sent back to the interrupted namespace.
  * @param options - Optional target (`interruptId` / `namespace`) and
  *   run-level `config` / `metadata` folded into the run that services
  *   the resume (model/user config, trigger source, test flags, …).
  *   Equivalent to the same fields on {@link StreamSubmitOptions}.
  *
  * @example Single pending interrupt (safe to omit a target)
  * ```ts
  * await controller.respond({ approved: true });
  * ```
  *
  * @example Carry run config / metadata onto the resume
  * ```ts
  * await controller.respond(
  *   { approved: true },
  *   { config: { configurable: { model: "gpt-4o" } }, metadata: { source: "ui" } },
  * );
  * ```
  *
  * @example Multiple / nested interrupts — target by id
  * ```tsx
  * for (const intr of stream.interrupts) {
  *   await stream.respond(decide(intr.value), { interruptId: intr.id! });
  * }
  * ```
  *
  * Each {@link InterruptPayload} on `thread.interrupts` and each
  * {@link Interrupt} on `stream.interrupts` mirrors an
  * `input.requested` event with its protocol `namespace`.
  */
  async respond(response, options) {
    if (__privateGet(this, _disposed) || __privateGet(this, _thread2) == null) throw new Error("No active thread to respond to.");
    const resolved = (options == null ? void 0 : options.interruptId) != null ? {
      interruptId: options.interruptId,
      namespace: __privateMethod(this, _StreamController_instances, resolveNamespaceForInterruptId_fn).call(this, options.interruptId, options.namespace)
    } : __privateMethod(this, _StreamController_instances, resolveInterruptForResume_fn).call(this);
    if (resolved == null) throw new Error("No pending interrupt to respond to.");
    const thread = __privateGet(this, _thread2);
    const prepared = (options == null ? void 0 : options.update) != null ? __privateMethod(this, _StreamController_instances, beginOptimistic_fn).call(this, options.update) : void 0;
    const dispatchUpdate = __privateMethod(this, _StreamController_instances, resolveDispatchUpdate_fn).call(this, options == null ? void 0 : options.update, prepared);
    try {
      await __privateGet(this, _submitter).dispatchResume(async () => {
        await thread.respondInput({
          namespace: resolved.namespace,
          interrupt_id: resolved.interruptId,
          response: normalizeHitlResponseForServer(response),
          ...dispatchUpdate != null ? { update: dispatchUpdate } : {},
          ...(options == null ? void 0 : options.goto) != null ? { goto: options.goto } : {},
          config: options == null ? void 0 : options.config,
          metadata: options == null ? void 0 : options.metadata
        });
        __privateMethod(this, _StreamController_instances, advanceInterruptReplayBarrier_fn).call(this);
        __privateMethod(this, _StreamController_instances, markInterruptResolvedInRootStore_fn).call(this, resolved.interruptId);
      }, prepared == null ? void 0 : prepared.handle);
    } catch (error) {
      __privateMethod(this, _StreamController_instances, discardPendingInterruptEvents_fn).call(this);
      if (__privateGet(this, _disposed) && isAbortLikeError(error)) return;
      throw error;
    }
  }
  /**
  * Resume several pending interrupts at the same checkpoint in a single
  * command.
  *
  * Required when a run pauses on multiple interrupts simultaneously
  * (e.g. parallel tool-authorization prompts): a single
  * `Command({ resume })` carrying every interrupt's payload resumes them
  * together. Sequential {@link respond} calls would fail because the
  * first resume starts a run, leaving the rest with no interrupted run to
  * respond to.
  *
  * `responsesById` maps each pending `interruptId` to the payload sent
  * back to it, so different interrupts can receive different responses
  * (approve one, deny another). To send the *same* payload to several
  * interrupts, build the map with that value for each id, e.g.
  * `Object.fromEntries(ids.map((id) => [id, response]))`.
  *
  * The server resumes by `interruptId`, so namespaces are resolved
  * internally from `getThread()?.interrupts` and need not be supplied.
  *
  * @param responsesById - Map of pending `interruptId` to its response
  *   payload. Must contain at least one entry.
  * @param options - Optional run-level `config` / `metadata` folded into
  *   the single run that services the batched resume. Equivalent to the
  *   same fields on {@link StreamSubmitOptions}.
  *
  * @example Distinct payloads per interrupt
  * ```tsx
  * await stream.respondAll({
  *   [interruptA.id]: { approved: true },
  *   [interruptB.id]: { approved: false },
  * });
  * ```
  *
  * @example Same payload to every pending interrupt
  * ```tsx
  * await stream.respondAll(
  *   Object.fromEntries(stream.interrupts.map((i) => [i.id!, { approved: true }])),
  * );
  * ```
  */
  async respondAll(responsesById, options) {
    if (__privateGet(this, _disposed) || __privateGet(this, _thread2) == null) throw new Error("No active thread to respond to.");
    const entries = Object.entries(responsesById);
    if (entries.length === 0) throw new Error("respondAll() requires at least one response.");
    const thread = __privateGet(this, _thread2);
    const responses = entries.map(([interruptId, response]) => ({
      interrupt_id: interruptId,
      response: normalizeHitlResponseForServer(response),
      namespace: __privateMethod(this, _StreamController_instances, resolveNamespaceForInterruptId_fn).call(this, interruptId)
    }));
    const prepared = (options == null ? void 0 : options.update) != null ? __privateMethod(this, _StreamController_instances, beginOptimistic_fn).call(this, options.update) : void 0;
    const dispatchUpdate = __privateMethod(this, _StreamController_instances, resolveDispatchUpdate_fn).call(this, options == null ? void 0 : options.update, prepared);
    try {
      await __privateGet(this, _submitter).dispatchResume(async () => {
        await thread.respondInput({
          responses,
          ...dispatchUpdate != null ? { update: dispatchUpdate } : {},
          ...(options == null ? void 0 : options.goto) != null ? { goto: options.goto } : {},
          config: options == null ? void 0 : options.config,
          metadata: options == null ? void 0 : options.metadata
        });
        __privateMethod(this, _StreamController_instances, advanceInterruptReplayBarrier_fn).call(this);
        for (const { interrupt_id: interruptId } of responses) __privateMethod(this, _StreamController_instances, markInterruptResolvedInRootStore_fn).call(this, interruptId);
      }, prepared == null ? void 0 : prepared.handle);
    } catch (error) {
      __privateMethod(this, _StreamController_instances, discardPendingInterruptEvents_fn).call(this);
      if (__privateGet(this, _disposed) && isAbortLikeError(error)) return;
      throw error;
    }
  }
  /**
  * Dispose the active thread, subscriptions, registry entries, and listeners.
  */
  async dispose() {
    if (__privateGet(this, _disposed)) return;
    __privateMethod(this, _StreamController_instances, cancelPendingDispose_fn).call(this);
    __privateSet(this, _disposed, true);
    __privateGet(this, _submitter).abortActiveRun();
    await __privateMethod(this, _StreamController_instances, teardownThread_fn).call(this);
    await this.registry.dispose();
    __privateGet(this, _threadListeners).clear();
  }
  /**
  * StrictMode-safe lifecycle hook for framework bindings.
  *
  * React 18+ `StrictMode` intentionally mounts → unmounts → remounts
  * components in dev to surface effect-cleanup bugs. A naive
  * `useEffect(() => () => controller.dispose())` would permanently
  * tear the controller down on that first synthetic unmount, leaving
  * every subsequent `submit()` a silent no-op.
  *
  * Call {@link activate} from the bind site's effect and return the
  * result as the effect's cleanup. The controller uses deferred
  * disposal: a `release()` only schedules a dispose on the next
  * microtask, which is cancelled if another `activate()` arrives
  * before it fires (the normal StrictMode remount path).
  */
  activate() {
    __privateMethod(this, _StreamController_instances, cancelPendingDispose_fn).call(this);
    return () => {
      if (__privateGet(this, _disposed)) return;
      __privateSet(this, _pendingDisposeTimer, setTimeout(() => {
        __privateSet(this, _pendingDisposeTimer, null);
        this.dispose().catch(() => void 0);
      }, 0));
    };
  }
  /**
  * Returns the bound {@link ThreadStream}, if one exists. Prefer
  * {@link StreamController.rootStore} and selector projections for
  * UI work; use this for low-level protocol access.
  */
  getThread() {
    return __privateGet(this, _thread2);
  }
  /**
  * Listen for `ThreadStream` lifecycle (swap on thread-id change,
  * detach on dispose). The listener fires immediately with the
  * current thread (may be `undefined`).
  *
  * @param listener - Callback invoked immediately and on every thread swap.
  */
  subscribeThread(listener) {
    __privateGet(this, _threadListeners).add(listener);
    listener(__privateGet(this, _thread2));
    return () => {
      __privateGet(this, _threadListeners).delete(listener);
    };
  }
}, _options2 = new WeakMap(), _messagesKey2 = new WeakMap(), _subagents = new WeakMap(), _subgraphs = new WeakMap(), _messageMetadata = new WeakMap(), _thread2 = new WeakMap(), _currentThreadId = new WeakMap(), _rootSubscription = new WeakMap(), _rootPump = new WeakMap(), _rootPumpReady = new WeakMap(), _rootPumpDeferred = new WeakMap(), _threadEventUnsubscribe = new WeakMap(), _threadErrorUnsubscribe = new WeakMap(), _disposed = new WeakMap(), _pendingDisposeTimer = new WeakMap(), _resolvedInterrupts = new WeakMap(), _hydratedActiveInterruptIds = new WeakMap(), _interruptReplayThroughSeq = new WeakMap(), _pendingHydrationInterruptEvents = new WeakMap(), _settleParkedInterruptsPromise = new WeakMap(), _pendingInterruptEvents = new WeakMap(), _interruptCommandPending = new WeakMap(), _submitGeneration = new WeakMap(), _rootPumpGeneration = new WeakMap(), _selfCreatedThreadIds = new WeakMap(), _missingThreadIds = new WeakMap(), _namespaceResolves = new WeakMap(), _discoverySeedPromise = new WeakMap(), _scopedHistorySeeds = new WeakMap(), _rootEventListeners = new WeakMap(), _rootBus2 = new WeakMap(), _activeRunId = new WeakMap(), _localRunDepth = new WeakMap(), _sawValuesForRun = new WeakMap(), _hydrationPromise = new WeakMap(), _resolveHydration = new WeakMap(), _rejectHydration = new WeakMap(), _rootToolAssembler = new WeakMap(), _rootMessages = new WeakMap(), _lifecycleLoading = new WeakMap(), _submitter = new WeakMap(), _threadListeners = new WeakMap(), _StreamController_instances = new WeakSet(), /**
* Create the deferred promise backing the current hydration cycle.
*/
createHydrationPromise_fn = function() {
  return new Promise((resolve, reject) => {
    __privateSet(this, _resolveHydration, resolve);
    __privateSet(this, _rejectHydration, reject);
  });
}, /**
* Replace the current hydration promise before a thread swap.
*/
resetHydrationPromise_fn = function() {
  __privateGet(this, _hydrationPromise).catch(() => void 0);
  __privateSet(this, _hydrationPromise, __privateMethod(this, _StreamController_instances, createHydrationPromise_fn).call(this));
}, fetchHydrationState_fn = async function() {
  const threadId = __privateGet(this, _currentThreadId);
  if (threadId == null) return null;
  const transport = __privateGet(this, _options2).transport;
  if (transport != null && typeof transport === "object" && typeof transport.getState === "function") return await transport.getState();
  return __privateGet(this, _options2).client.threads.getState(threadId);
}, seedDiscoveryFromHistory_fn = async function(threadId) {
  try {
    const history = await getHistoryPage(__privateGet(this, _options2).client, threadId, { limit: 20 });
    if (__privateGet(this, _disposed) || __privateGet(this, _currentThreadId) !== threadId) return;
    __privateMethod(this, _StreamController_instances, primeScopedHistorySeedsFromHistory_fn).call(this, threadId, history);
    const hosts = collectSubgraphHostNamespaces(history);
    __privateGet(this, _subgraphs).seedFromHistory(hosts);
    const defaultOnlyIds = [...__privateGet(this, _subagents).snapshot.values()].filter(namespaceIsDefaultOnly).map((entry) => entry.id);
    if (defaultOnlyIds.length > 0) {
      const map = mapSubagentNamespaces(history, defaultOnlyIds, __privateGet(this, _messagesKey2));
      for (const [id, segment] of map) __privateGet(this, _subagents).applyExecutionNamespace(id, segment);
    }
  } catch {
  }
}, trySeedProjectionFromHistory_fn = async function(params) {
  const threadId = __privateGet(this, _currentThreadId);
  if (__privateGet(this, _disposed) || threadId == null || params.namespace.length === 0 || !__privateGet(this, _rootPumpDeferred) || __privateGet(this, _selfCreatedThreadIds).has(threadId) || __privateGet(this, _missingThreadIds).has(threadId)) return false;
  if (await __privateMethod(this, _StreamController_instances, skipDefaultSubagentProjection_fn).call(this, params.namespace, threadId)) return true;
  if (__privateGet(this, _disposed) || __privateGet(this, _currentThreadId) !== threadId || !__privateGet(this, _rootPumpDeferred)) return false;
  const seed = await __privateMethod(this, _StreamController_instances, getScopedHistorySeed_fn).call(this, threadId, params.namespace);
  if (seed == null || __privateGet(this, _disposed) || __privateGet(this, _currentThreadId) !== threadId || !__privateGet(this, _rootPumpDeferred)) return false;
  if (await __privateMethod(this, _StreamController_instances, skipDefaultSubagentProjection_fn).call(this, params.namespace, threadId)) return true;
  if (params.kind === "messages") {
    params.store.setValue(seed.messages);
    return true;
  }
  params.store.setValue(seed.toolCalls);
  return true;
}, skipDefaultSubagentProjection_fn = async function(namespace, threadId) {
  const toolCallId = defaultSubagentToolCallId(namespace);
  if (toolCallId == null) return false;
  if (!namespaceIsDefaultOnly(__privateGet(this, _subagents).snapshot.get(toolCallId))) return false;
  const seed = __privateGet(this, _discoverySeedPromise);
  if (seed != null) await seed;
  if (__privateGet(this, _disposed) || __privateGet(this, _currentThreadId) !== threadId) return true;
  return !namespaceIsDefaultOnly(__privateGet(this, _subagents).snapshot.get(toolCallId));
}, /**
* Load and cache the latest checkpoint snapshot for one scoped namespace.
*
* `useMessages(stream, subagent)` and `useToolCalls(stream, subagent)` often
* mount together. Both need the same namespace-specific history page, so the
* controller keeps an in-flight promise per `threadId + checkpoint_ns`.
* The cache may already be primed by the hydrate-time discovery history page;
* otherwise this method performs a narrow `checkpoint_ns` read and derives
* both projection snapshots from that one response:
*
* - `messages` are coerced with the stream-local message coercion rules, so
*   serialized `content_blocks` and tool-call metadata hydrate correctly.
* - `toolCalls` are reconstructed from AI tool calls plus matching
*   ToolMessages, enough for finished/stale card panels without replaying
*   the `tools` channel.
*
* Returns `null` when history does not contain usable values, or the request
* fails. Callers treat that as a signal to fall back to `/events` so custom
* servers or unusual state shapes still work.
*/
getScopedHistorySeed_fn = function(threadId, namespace) {
  const checkpointNs = namespaceKey2(namespace);
  const key = `${threadId}|${checkpointNs}`;
  const existing = __privateGet(this, _scopedHistorySeeds).get(key);
  if (existing != null) return existing;
  const seed = (async () => {
    var _a17;
    try {
      const values = (_a17 = (await getHistoryPage(__privateGet(this, _options2).client, threadId, {
        limit: 1,
        checkpoint: { checkpoint_ns: checkpointNs }
      }))[0]) == null ? void 0 : _a17.values;
      if (values == null || typeof values !== "object") return null;
      const messages = extractAndCoerceMessagesWithFallback(values, __privateGet(this, _messagesKey2));
      if (messages == null) return null;
      return {
        messages,
        toolCalls: seedToolCallsFromMessages(namespace, messages)
      };
    } catch {
      return null;
    }
  })();
  __privateGet(this, _scopedHistorySeeds).set(key, seed);
  return seed;
}, /**
* Reuse the hydrate-time discovery history page as scoped projection data
* when it already contains checkpoint values for a namespace.
*
* The discovery read is required to resolve subagent execution namespaces and
* subgraph hosts. That same page often includes the latest values for those
* namespaces, so priming `#scopedHistorySeeds` here lets later
* `useMessages(stream, subagent)` / `useToolCalls(stream, subagent)` mounts
* hydrate from memory instead of issuing an immediate second `getHistory`
* request. If a namespace is not present in the bounded page,
* `#getScopedHistorySeed` still falls back to a targeted `checkpoint_ns`
* history read.
*/
primeScopedHistorySeedsFromHistory_fn = function(threadId, history) {
  var _a17;
  for (const state of history) {
    const checkpointNs = (_a17 = state.checkpoint) == null ? void 0 : _a17.checkpoint_ns;
    if (typeof checkpointNs !== "string" || checkpointNs.length === 0) continue;
    const namespace = checkpointNs.split("\0").filter((segment) => segment.length > 0);
    if (namespace.length === 0) continue;
    const key = `${threadId}|${namespaceKey2(namespace)}`;
    if (__privateGet(this, _scopedHistorySeeds).has(key)) continue;
    const values = state.values;
    if (values == null || typeof values !== "object") continue;
    const messages = extractAndCoerceMessagesWithFallback(values, __privateGet(this, _messagesKey2));
    if (messages == null) continue;
    __privateGet(this, _scopedHistorySeeds).set(key, Promise.resolve({
      messages,
      toolCalls: seedToolCallsFromMessages(namespace, messages)
    }));
  }
}, markLocalRunStart_fn = function() {
  __privateSet(this, _localRunDepth, __privateGet(this, _localRunDepth) + 1);
}, markLocalRunEnd_fn = function() {
  __privateSet(this, _localRunDepth, Math.max(0, __privateGet(this, _localRunDepth) - 1));
}, notifyCreated_fn = function(runId) {
  var _a17, _b;
  __privateSet(this, _activeRunId, runId);
  try {
    (_b = (_a17 = __privateGet(this, _options2)).onCreated) == null ? void 0 : _b.call(_a17, { runId });
  } catch {
  }
}, notifyCompleted_fn = function(reason, runId = __privateGet(this, _activeRunId)) {
  if (runId != null && runId === __privateGet(this, _activeRunId)) __privateSet(this, _activeRunId, void 0);
  setTimeout(() => {
    var _a17, _b;
    if (__privateGet(this, _disposed)) return;
    try {
      (_b = (_a17 = __privateGet(this, _options2)).onCompleted) == null ? void 0 : _b.call(_a17, runId == null ? { reason } : {
        runId,
        reason
      });
    } catch {
    }
  }, 0);
}, _runLifecycleListener = new WeakMap(), /**
* Cancel a deferred dispose scheduled by {@link activate}.
*/
cancelPendingDispose_fn = function() {
  if (__privateGet(this, _pendingDisposeTimer) != null) {
    clearTimeout(__privateGet(this, _pendingDisposeTimer));
    __privateSet(this, _pendingDisposeTimer, null);
  }
}, /**
* Build the initial root snapshot from configured initial values.
*/
createInitialSnapshot_fn = function() {
  const values = __privateGet(this, _options2).initialValues ?? {};
  return {
    values,
    messages: extractAndCoerceMessages(values, __privateGet(this, _messagesKey2)),
    toolCalls: [],
    interrupts: [],
    interrupt: void 0,
    isLoading: false,
    isThreadLoading: __privateGet(this, _currentThreadId) != null && !__privateGet(this, _selfCreatedThreadIds).has(__privateGet(this, _currentThreadId)),
    error: void 0,
    threadId: __privateGet(this, _currentThreadId)
  };
}, /**
* Return the active thread stream, creating and binding one when needed.
*
* @param threadId - Thread id used when constructing the stream.
* @param deferRootPump - When `true`, build the ThreadStream and bind
*   the registry but skip starting the persistent root SSE pump. Used
*   for client-self-created thread ids whose server-side thread row
*   doesn't exist yet — opening the pump's `subscription.subscribe`
*   against a not-yet-existent thread produces a `404: Thread not
*   found` protocol error that strands terminal lifecycle events and
*   leaves the UI showing nothing until the user reloads. The pump is
*   started later via {@link #startDeferredRootPump} after `submitRun`
*   / `respondInput` commits the thread server-side.
*
*   Note: PR 2381's `#runStartReady` gate covers the analogous race
*   for the in-flight `run.start` send, but only when that send is
*   already pending. `#ensureThread` runs *before* `submitRun` is
*   called (and thus before the gate is armed), so on transports
*   that subscribe synchronously (WebSocket) the deferred path is
*   still required.
*/
ensureThread_fn = function(threadId, deferRootPump = false) {
  if (__privateGet(this, _thread2) != null) {
    if (!deferRootPump && !__privateGet(this, _rootPumpDeferred) && __privateGet(this, _rootPump) == null) __privateMethod(this, _StreamController_instances, startRootPump_fn).call(this, __privateGet(this, _thread2));
    return __privateGet(this, _thread2);
  }
  __privateSet(this, _thread2, __privateGet(this, _options2).client.threads.stream(threadId, {
    assistantId: __privateGet(this, _options2).assistantId,
    transport: __privateGet(this, _options2).transport,
    fetch: __privateGet(this, _options2).fetch,
    webSocketFactory: __privateGet(this, _options2).webSocketFactory,
    maxReconnectAttempts: __privateGet(this, _options2).maxReconnectAttempts,
    streamIdleReconnect: __privateGet(this, _options2).streamIdleReconnect,
    reconnectDelayMs: __privateGet(this, _options2).reconnectDelayMs,
    onReconnect: __privateGet(this, _options2).onReconnect,
    onConnected: __privateGet(this, _options2).onConnected
  }));
  this.registry.bind(__privateGet(this, _thread2));
  if (deferRootPump) {
    __privateSet(this, _rootPumpReady, Promise.resolve());
    __privateSet(this, _rootPumpDeferred, true);
  } else __privateMethod(this, _StreamController_instances, startRootPump_fn).call(this, __privateGet(this, _thread2));
  __privateMethod(this, _StreamController_instances, notifyThreadListeners_fn).call(this);
  return __privateGet(this, _thread2);
}, /**
* Start the previously-deferred root SSE pump after the first
* `submitRun` / `respondInput` has committed the thread server-side.
*
* No-op when the pump was started eagerly in {@link #ensureThread}
* (i.e. for hydrated existing threads, or for any thread whose pump
* has already been brought up).
*/
startDeferredRootPump_fn = function() {
  if (!__privateGet(this, _rootPumpDeferred)) return;
  if (__privateGet(this, _thread2) == null) return;
  __privateSet(this, _rootPumpDeferred, false);
  __privateMethod(this, _StreamController_instances, startRootPump_fn).call(this, __privateGet(this, _thread2));
}, /**
* Abandon a deferred root pump that never started because its
* triggering dispatch (`submitRun` / `respondInput`) failed.
*
* Without this, the controller would be wedged in a state where:
*   - `#thread` is wired but no content pump is open
*   - `#rootPumpDeferred` stays `true`
*
* A retry submit must re-run `#ensureThread` from scratch (with
* `deferRootPump` still true — the id stays in
* `#selfCreatedThreadIds` until a successful dispatch). Tearing
* down `#thread` is the simplest recovery; the failed dispatch
* means there was nothing to subscribe to anyway.
*/
abandonDeferredRootPump_fn = function() {
  if (!__privateGet(this, _rootPumpDeferred)) return;
  __privateSet(this, _rootPumpDeferred, false);
  __privateMethod(this, _StreamController_instances, teardownThread_fn).call(this);
}, teardownThread_fn = async function() {
  var _a17, _b;
  __privateSet(this, _rootPumpGeneration, __privateGet(this, _rootPumpGeneration) + 1);
  const thread = __privateGet(this, _thread2);
  __privateSet(this, _thread2, void 0);
  this.registry.bind(void 0);
  (_a17 = __privateGet(this, _threadEventUnsubscribe)) == null ? void 0 : _a17.call(this);
  __privateSet(this, _threadEventUnsubscribe, void 0);
  (_b = __privateGet(this, _threadErrorUnsubscribe)) == null ? void 0 : _b.call(this);
  __privateSet(this, _threadErrorUnsubscribe, void 0);
  __privateGet(this, _rootEventListeners).delete(__privateGet(this, _lifecycleLoading).listener);
  __privateGet(this, _rootEventListeners).delete(__privateGet(this, _runLifecycleListener));
  const subscription = __privateGet(this, _rootSubscription);
  __privateSet(this, _rootSubscription, void 0);
  subscription == null ? void 0 : subscription.close();
  __privateSet(this, _rootPumpReady, void 0);
  __privateSet(this, _rootPumpDeferred, false);
  __privateGet(this, _rootMessages).reset();
  __privateSet(this, _rootToolAssembler, new ToolCallAssembler());
  __privateGet(this, _lifecycleLoading).reset();
  __privateGet(this, _subagents).reset();
  __privateGet(this, _subgraphs).reset();
  __privateGet(this, _scopedHistorySeeds).clear();
  __privateSet(this, _activeRunId, void 0);
  __privateSet(this, _localRunDepth, 0);
  __privateGet(this, _messageMetadata).reset();
  __privateSet(this, _hydratedActiveInterruptIds, null);
  __privateSet(this, _interruptReplayThroughSeq, void 0);
  __privateSet(this, _pendingHydrationInterruptEvents, []);
  __privateMethod(this, _StreamController_instances, discardPendingInterruptEvents_fn).call(this);
  this.queueStore.setState(() => EMPTY_QUEUE);
  try {
    await (subscription == null ? void 0 : subscription.unsubscribe());
  } catch {
  }
  try {
    await __privateGet(this, _rootPump);
  } catch {
  }
  __privateSet(this, _rootPump, void 0);
  if (thread != null) {
    try {
      await thread.close();
    } catch {
    }
    __privateMethod(this, _StreamController_instances, notifyThreadListeners_fn).call(this);
  }
}, /**
* Determine whether the configured transport uses the resumable event-stream path.
*/
usesEventStreamTransport_fn = function() {
  const transport = __privateGet(this, _options2).transport;
  if (transport === "websocket") return false;
  if (transport == null || transport === "sse") return true;
  return typeof transport.openEventStream === "function";
}, /**
* Start the always-on root subscription pump for the provided thread.
*
* @param thread - Thread stream to subscribe to and fan out from.
*/
startRootPump_fn = function(thread) {
  if (__privateGet(this, _rootPump) != null) return;
  const pumpGeneration = __privateGet(this, _rootPumpGeneration);
  let resolveReady;
  __privateSet(this, _rootPumpReady, new Promise((resolve) => {
    resolveReady = resolve;
  }));
  __privateSet(this, _threadEventUnsubscribe, thread.onEvent((event) => __privateMethod(this, _StreamController_instances, onWildcardEvent_fn).call(this, event)));
  __privateSet(this, _threadErrorUnsubscribe, thread.onError((error) => {
    var _a17;
    this.rootStore.setState((s) => ({
      ...s,
      error,
      isLoading: false
    }));
    (_a17 = __privateGet(this, _rootSubscription)) == null ? void 0 : _a17.close();
  }));
  __privateGet(this, _rootEventListeners).add(__privateGet(this, _lifecycleLoading).listener);
  __privateGet(this, _rootEventListeners).add(__privateGet(this, _runLifecycleListener));
  const pump = (async () => {
    try {
      const subscriptionPromise = thread.subscribe({
        channels: [...ROOT_PUMP_CHANNELS],
        namespaces: [[]],
        depth: 1
      });
      if (__privateMethod(this, _StreamController_instances, usesEventStreamTransport_fn).call(this))
        queueMicrotask(() => {
          resolveReady == null ? void 0 : resolveReady();
          resolveReady = void 0;
        });
      const subscription = await subscriptionPromise;
      if (pumpGeneration !== __privateGet(this, _rootPumpGeneration)) {
        resolveReady == null ? void 0 : resolveReady();
        resolveReady = void 0;
        try {
          subscription.close();
        } catch {
        }
        return;
      }
      resolveReady == null ? void 0 : resolveReady();
      resolveReady = void 0;
      __privateSet(this, _rootSubscription, subscription);
      while (!__privateGet(this, _disposed) && pumpGeneration === __privateGet(this, _rootPumpGeneration)) {
        for await (const event of subscription) {
          if (__privateGet(this, _disposed) || pumpGeneration !== __privateGet(this, _rootPumpGeneration)) break;
          try {
            __privateMethod(this, _StreamController_instances, onRootEvent_fn).call(this, event);
          } catch {
          }
        }
        if (__privateGet(this, _disposed) || pumpGeneration !== __privateGet(this, _rootPumpGeneration)) break;
        if (!subscription.isPaused) {
          const snapshot = this.rootStore.getSnapshot();
          if (snapshot.isLoading && snapshot.error == null) this.rootStore.setState((s) => ({
            ...s,
            error: new Error("Thread event stream closed before the active run completed."),
            isLoading: false
          }));
          break;
        }
        await subscription.waitForResume();
      }
    } catch {
      resolveReady == null ? void 0 : resolveReady();
      resolveReady = void 0;
    }
  })();
  __privateSet(this, _rootPump, pump);
  pump.finally(() => {
    var _a17, _b;
    if (pumpGeneration !== __privateGet(this, _rootPumpGeneration)) return;
    if (__privateGet(this, _rootPump) !== pump) return;
    __privateSet(this, _rootPumpGeneration, __privateGet(this, _rootPumpGeneration) + 1);
    __privateSet(this, _rootSubscription, void 0);
    __privateSet(this, _rootPump, void 0);
    __privateSet(this, _rootPumpReady, void 0);
    (_a17 = __privateGet(this, _threadEventUnsubscribe)) == null ? void 0 : _a17.call(this);
    __privateSet(this, _threadEventUnsubscribe, void 0);
    (_b = __privateGet(this, _threadErrorUnsubscribe)) == null ? void 0 : _b.call(this);
    __privateSet(this, _threadErrorUnsubscribe, void 0);
    __privateGet(this, _rootEventListeners).delete(__privateGet(this, _lifecycleLoading).listener);
    __privateGet(this, _rootEventListeners).delete(__privateGet(this, _runLifecycleListener));
  });
}, /**
* Handle an event delivered via {@link ThreadStream.onEvent}.
*
* `onEvent` fires once per globally-unique event across the content
* pump and the wildcard lifecycle watcher, so this is the single
* entry point for wildcard discovery / interrupt tracking. It does
* NOT fan events out to the root bus (that's driven by the content
* pump iterator so root-bus short-circuits stay depth-1 scoped) and
* it does NOT process root content — messages/tools/values at root
* are handled by `#onRootEvent` off the content pump.
*
* @param event - Raw protocol event observed by the thread-wide listener.
*/
onWildcardEvent_fn = function(event) {
  try {
    __privateGet(this, _subagents).push(event);
  } catch {
  }
  __privateGet(this, _subgraphs).push(event);
  __privateGet(this, _lifecycleLoading).handle(event);
  __privateMethod(this, _StreamController_instances, recordInterrupt_fn).call(this, event);
  __privateMethod(this, _StreamController_instances, settleParkedInterruptsOnTerminal_fn).call(this, event);
}, /**
* Process one root-pump event and update all root projections.
*
* @param event - Event yielded by the root subscription.
*/
onRootEvent_fn = function(event) {
  try {
    __privateGet(this, _subagents).push(event);
  } catch {
  }
  if (__privateGet(this, _rootEventListeners).size > 0) for (const listener of __privateGet(this, _rootEventListeners)) try {
    listener(event);
  } catch {
  }
  const isInternalNamespace = isInternalWorkNamespace(event.params.namespace);
  const hasLegacySubagentNamespace = isLegacySubagentNamespace(event.params.namespace);
  if (event.method === "messages") {
    if (!isInternalNamespace) __privateGet(this, _rootMessages).handleMessage(event);
    return;
  }
  if (event.method === "tools") {
    if (event.params.namespace.length <= 1 && !hasLegacySubagentNamespace) {
      const toolData = event.params.data;
      if (toolData.event === "tool-started" && typeof toolData.tool_call_id === "string") __privateGet(this, _rootMessages).recordToolCallNamespace(event.params.namespace, toolData.tool_call_id);
      const tc = __privateGet(this, _rootToolAssembler).consume(event);
      if (tc != null) this.rootStore.setState((s) => ({
        ...s,
        toolCalls: upsertToolCall(s.toolCalls, tc)
      }));
    }
    return;
  }
  if (event.method === "checkpoints") {
    const data = event.params.data;
    __privateGet(this, _messageMetadata).bufferCheckpoint(event.params.namespace, data);
    return;
  }
  if (!isRootNamespace(event.params.namespace)) return;
  if (event.method === "values") {
    const valuesEvent = event;
    const bufferedCheckpoint = __privateGet(this, _messageMetadata).consumeCheckpoint(event.params.namespace);
    __privateMethod(this, _StreamController_instances, applyValues_fn).call(this, valuesEvent.params.data, bufferedCheckpoint);
    return;
  }
  if (event.method === "input.requested") {
    __privateMethod(this, _StreamController_instances, recordInterrupt_fn).call(this, event);
    return;
  }
  if (event.method === "lifecycle") event.params.data;
}, /**
* Merge a `values` payload into root values and root messages.
*
* @param raw - Raw `values` channel payload.
* @param checkpoint - Optional checkpoint envelope paired with the values event.
*/
/**
* Apply a submit input optimistically to the root projection before
* the server responds. Mints stable ids for id-less messages (so the
* server echo reconciles by id), appends them to the projection, and
* shallow-merges non-message input keys into `values`.
*
* Returns the dispatch payload (id-injected) for the coordinator to
* send, plus an {@link OptimisticHandle} for terminal reconciliation.
* Returns `undefined` when optimistic UI is disabled or there is
* nothing to echo, in which case the coordinator dispatches the raw
* input unchanged.
*
* @param input - Raw input passed to `submit()`.
*/
beginOptimistic_fn = function(input) {
  if (__privateGet(this, _options2).optimistic === false) return void 0;
  if (input == null || typeof input !== "object" || Array.isArray(input)) return;
  const prepared = prepareOptimisticInput(input, __privateGet(this, _messagesKey2), () => v7());
  const extraKeys = Object.keys(prepared.extraValues);
  if (prepared.echoedIds.length === 0 && extraKeys.length === 0) return;
  const currentValues = this.rootStore.getSnapshot().values;
  const restoreKeys = extraKeys.map((key) => ({
    key,
    hadKey: Object.prototype.hasOwnProperty.call(currentValues, key),
    prevValue: currentValues[key]
  }));
  __privateSet(this, _sawValuesForRun, false);
  __privateGet(this, _rootMessages).appendOptimistic(prepared.optimisticMessages, prepared.extraValues, { sync: true });
  if (prepared.echoedIds.length > 0) __privateGet(this, _messageMetadata).markPending(prepared.echoedIds);
  return {
    dispatchInput: prepared.dispatchInput,
    handle: {
      echoedIds: prepared.echoedIds,
      restoreKeys
    }
  };
}, /**
* Pick the `update` payload to dispatch on a resume (`respond` /
* `respondAll`).
*
* When the optimistic path ran ({@link #beginOptimistic} returned a handle),
* its `dispatchInput` already carries the minted message ids the server must
* echo back, so dispatch that — the echo reconciles the optimistic messages
* by id (no duplicate). Otherwise (optimistic UI disabled, or an `update`
* with no echoable messages — e.g. the tuple-entry form) fall back to
* serializing `BaseMessage` instances to dicts, exactly as before. Returns
* `undefined` when there is no `update`, so the server still sees a plain
* resume.
*/
resolveDispatchUpdate_fn = function(update, prepared) {
  if (prepared != null) return prepared.dispatchInput;
  if (update == null) return void 0;
  return serializeUpdateMessages(update, __privateGet(this, _messagesKey2));
}, /**
* Reconcile optimistic state when a run terminates.
*
*   - Messages: any echoed id still `"pending"` (never echoed by the
*     server) is flipped to `"sent"` on success/interrupt, or
*     `"failed"` on failure/abort. Ids the server already echoed were
*     flipped to `"sent"` in {@link #applyValues} and are untouched.
*   - Non-message keys: rolled back to their pre-submit values when no
*     server `values` event landed during the run (otherwise the
*     server snapshot already reconciled them). Skipped on abort,
*     where a superseding run (or `stop()`) owns subsequent state.
*
* @param handle - Handle returned by {@link #beginOptimistic}.
* @param event  - Terminal lifecycle event for the run.
*/
settleOptimistic_fn = function(handle, event) {
  const failed = event === "failed" || event === "aborted";
  __privateGet(this, _messageMetadata).resolvePending(handle.echoedIds, failed ? "failed" : "sent");
  if (event !== "aborted" && !__privateGet(this, _sawValuesForRun)) __privateGet(this, _rootMessages).restoreValueKeys(handle.restoreKeys);
}, applyValues_fn = function(raw, checkpoint) {
  if (raw == null || typeof raw !== "object" || Array.isArray(raw)) return;
  const state = raw;
  __privateSet(this, _sawValuesForRun, true);
  const parentCheckpointId = checkpoint == null ? void 0 : checkpoint.parent_id;
  if (parentCheckpointId != null && Array.isArray(state[__privateGet(this, _messagesKey2)])) __privateGet(this, _messageMetadata).recordMessages(state[__privateGet(this, _messagesKey2)], { parentCheckpointId });
  const maybeMessages = state[__privateGet(this, _messagesKey2)];
  let nextValues;
  let nextMessages;
  if (Array.isArray(maybeMessages)) {
    const coerced = ensureMessageInstances(maybeMessages);
    nextValues = {
      ...state,
      [__privateGet(this, _messagesKey2)]: coerced
    };
    nextMessages = coerced;
  } else {
    nextValues = state;
    nextMessages = [];
  }
  __privateGet(this, _rootMessages).applyValues(nextValues, nextMessages, { step: checkpoint == null ? void 0 : checkpoint.step });
  if (nextMessages.length > 0) {
    __privateGet(this, _messageMetadata).resolvePending(nextMessages.map((m) => m.id).filter((id) => typeof id === "string"), "sent");
    this.rootStore.setState((s) => {
      const toolCalls = reconcileToolCallsFromMessages(s.toolCalls, nextMessages);
      if (toolCalls === s.toolCalls) return s;
      return {
        ...s,
        toolCalls
      };
    });
  }
}, /**
* Mirror protocol interrupts (any namespace) into the root snapshot.
*
* This can be called from both the wildcard lifecycle/input watcher and the
* root content pump. Store-level dedup keeps the user-facing list stable.
*/
recordInterrupt_fn = function(event) {
  if (event.method !== "input.requested") return;
  const data = event.params.data;
  const interruptId = data == null ? void 0 : data.interrupt_id;
  if (typeof interruptId !== "string") return;
  const eventSeq = typeof event.seq === "number" ? event.seq : void 0;
  if (__privateGet(this, _resolvedInterrupts).has(interruptId)) {
    if (!(__privateGet(this, _hydratedActiveInterruptIds) == null || typeof __privateGet(this, _interruptReplayThroughSeq) === "number" && eventSeq != null && eventSeq > __privateGet(this, _interruptReplayThroughSeq))) return;
    __privateGet(this, _resolvedInterrupts).delete(interruptId);
  }
  const isUnknownInterrupt = __privateGet(this, _hydratedActiveInterruptIds) != null && !__privateGet(this, _hydratedActiveInterruptIds).has(interruptId);
  if (isUnknownInterrupt && __privateGet(this, _interruptCommandPending)) {
    __privateGet(this, _pendingInterruptEvents).push(event);
    return;
  }
  const barrier = __privateGet(this, _interruptReplayThroughSeq);
  if (isUnknownInterrupt && barrier == null) {
    __privateGet(this, _pendingHydrationInterruptEvents).push(event);
    return;
  }
  if (isUnknownInterrupt && barrier != null && eventSeq != null && eventSeq <= barrier) return;
  const namespace = Array.isArray(event.params.namespace) ? [...event.params.namespace] : [...ROOT_NAMESPACE];
  const interrupt = normalizeInterruptForClient({
    id: interruptId,
    value: data.payload,
    namespace
  });
  this.rootStore.setState((s) => {
    if (s.interrupts.some((entry) => entry.id === interruptId)) return s;
    const interrupts = [...s.interrupts, interrupt];
    return {
      ...s,
      interrupts,
      interrupt: interrupts[0]
    };
  });
}, /**
* Convert the hydrate-time allowlist into a replay barrier after a command
* is accepted. Built-in transports update `lastAppliedThroughSeq` from the
* command response before resolving `submitRun` / `respondInput`.
*/
advanceInterruptReplayBarrier_fn = function() {
  var _a17, _b;
  if (__privateGet(this, _hydratedActiveInterruptIds) == null) {
    __privateMethod(this, _StreamController_instances, discardPendingInterruptEvents_fn).call(this);
    return;
  }
  const throughSeq = (_b = (_a17 = __privateGet(this, _thread2)) == null ? void 0 : _a17.ordering) == null ? void 0 : _b.lastAppliedThroughSeq;
  if (typeof throughSeq === "number") __privateSet(this, _interruptReplayThroughSeq, throughSeq);
  else {
    __privateSet(this, _hydratedActiveInterruptIds, null);
    __privateSet(this, _interruptReplayThroughSeq, void 0);
  }
  __privateSet(this, _interruptCommandPending, false);
  const pendingEvents = __privateGet(this, _pendingInterruptEvents);
  __privateSet(this, _pendingInterruptEvents, []);
  for (const event of pendingEvents) __privateMethod(this, _StreamController_instances, recordInterrupt_fn).call(this, event);
}, discardPendingInterruptEvents_fn = function() {
  __privateSet(this, _interruptCommandPending, false);
  __privateSet(this, _pendingInterruptEvents, []);
}, /**
* Resolve the protocol namespace for a targeted resume.
*
* Prefer an explicit caller-supplied namespace, then the matching
* {@link ThreadStream.interrupts} entry, then the UI mirror on
* `rootStore.interrupts`, finally root (`[]`).
*/
resolveNamespaceForInterruptId_fn = function(interruptId, explicitNamespace) {
  var _a17, _b, _c;
  if (explicitNamespace != null) return [...explicitNamespace];
  const fromThread = (_b = (_a17 = __privateGet(this, _thread2)) == null ? void 0 : _a17.interrupts.find((entry) => entry.interruptId === interruptId)) == null ? void 0 : _b.namespace;
  if (fromThread != null) return [...fromThread];
  const fromRoot = (_c = this.rootStore.getSnapshot().interrupts.find((entry) => entry.id === interruptId)) == null ? void 0 : _c.namespace;
  if (fromRoot != null) return [...fromRoot];
  return [...ROOT_NAMESPACE];
}, /**
* Mark an interrupt resolved for historical-replay filtering and
* mirror the removal into the root snapshot the framework hooks read.
*
* Tombstones are not permanent: a live `input.requested` after the
* resume barrier clears the id when the same interrupt is raised again.
*/
markInterruptResolvedInRootStore_fn = function(interruptId) {
  __privateGet(this, _resolvedInterrupts).add(interruptId);
  this.rootStore.setState((s) => {
    var _a17;
    const interrupts = s.interrupts.filter((entry) => entry.id !== interruptId);
    if (interrupts.length === s.interrupts.length && ((_a17 = s.interrupt) == null ? void 0 : _a17.id) !== interruptId) return s;
    return {
      ...s,
      interrupts,
      interrupt: interrupts[0]
    };
  });
}, reconcilePendingInterruptsFromServer_fn = async function() {
  const threadId = __privateGet(this, _currentThreadId);
  if (threadId == null || __privateGet(this, _disposed)) return null;
  const generationAtFetch = __privateGet(this, _submitGeneration);
  try {
    const state = await __privateMethod(this, _StreamController_instances, fetchHydrationState_fn).call(this);
    if (__privateGet(this, _disposed) || __privateGet(this, _currentThreadId) !== threadId || __privateGet(this, _submitGeneration) !== generationAtFetch) return null;
    if (!Array.isArray(state == null ? void 0 : state.tasks)) return null;
    const { activeInterrupts, activeIds } = collectActiveInterruptsFromTasks(state.tasks);
    const pendingInterrupts = activeInterrupts.filter((interrupt) => interrupt.id == null || !__privateGet(this, _resolvedInterrupts).has(interrupt.id));
    this.rootStore.setState((s) => ({
      ...s,
      interrupts: pendingInterrupts,
      interrupt: pendingInterrupts[0]
    }));
    __privateSet(this, _hydratedActiveInterruptIds, activeIds);
    return state;
  } catch {
    return null;
  }
}, settleParkedInterruptsOnTerminal_fn = function(event) {
  var _a17;
  if (__privateGet(this, _pendingHydrationInterruptEvents).length === 0) return;
  if (event.method !== "lifecycle") return;
  if (!isRootNamespace(event.params.namespace)) return;
  const status = (_a17 = event.params.data) == null ? void 0 : _a17.event;
  if (status !== "interrupted" && status !== "completed" && status !== "failed") return;
  __privateMethod(this, _StreamController_instances, settleParkedInterrupts_fn).call(this);
}, settleParkedInterrupts_fn = async function() {
  const makePromise = async () => {
    try {
      const threadId = __privateGet(this, _currentThreadId);
      const generation = __privateGet(this, _submitGeneration);
      const deadline = Date.now() + PARKED_INTERRUPT_SETTLE_MS;
      for (; ; ) {
        if (__privateGet(this, _disposed) || __privateGet(this, _currentThreadId) !== threadId || __privateGet(this, _submitGeneration) !== generation || __privateGet(this, _pendingHydrationInterruptEvents).length === 0) return;
        const parkedIds = new Set(__privateGet(this, _pendingHydrationInterruptEvents).map((event) => event.params.data.interrupt_id));
        const state = await __privateMethod(this, _StreamController_instances, reconcilePendingInterruptsFromServer_fn).call(this);
        if (state != null) {
          if ([...__privateGet(this, _hydratedActiveInterruptIds) ?? []].some((id) => parkedIds.has(id)) || !isThreadStateActive(state)) {
            __privateSet(this, _pendingHydrationInterruptEvents, []);
            return;
          }
        }
        if (Date.now() >= deadline) return;
        await new Promise((resolve) => {
          setTimeout(resolve, PARKED_INTERRUPT_SETTLE_POLL_MS);
        });
      }
    } finally {
      __privateSet(this, _settleParkedInterruptsPromise, void 0);
    }
  };
  __privateGet(this, _settleParkedInterruptsPromise) ?? __privateSet(this, _settleParkedInterruptsPromise, makePromise());
  return __privateGet(this, _settleParkedInterruptsPromise);
}, /**
* Resolve on the next root-namespace terminal lifecycle event
* (`completed` / `failed` / `interrupted`) or on abort.
*
* Attaches to the controller's root event bus instead of opening
* a second server subscription. Callers should register the
* returned promise **before** dispatching the command that
* triggers the run (`thread.run.start` / `thread.input.respond`)
* — the root pump fans events out synchronously on arrival, so a
* late registration would miss the terminal for fast runs.
*
* @param signal - Abort signal for the local submit lifecycle.
*/
awaitNextTerminal_fn = function(signal) {
  return __privateMethod(this, _StreamController_instances, awaitRootTerminal_fn).call(this, signal, { skipInterruptedUntilRunning: false });
}, awaitResumedRunTerminal_fn = async function(signal) {
  const terminal = await __privateMethod(this, _StreamController_instances, awaitRootTerminal_fn).call(this, signal, { skipInterruptedUntilRunning: true });
  if (!signal.aborted && !__privateGet(this, _disposed) && (terminal.event === "interrupted" || terminal.event === "completed")) await __privateMethod(this, _StreamController_instances, reconcilePendingInterruptsFromServer_fn).call(this);
  return terminal;
}, awaitRootTerminal_fn = function(signal, options) {
  return new Promise((resolve) => {
    var _a17, _b;
    let settled = false;
    let sawRunning = false;
    function finish(result) {
      if (settled) return;
      settled = true;
      unsubscribeRoot == null ? void 0 : unsubscribeRoot();
      unsubscribeThread == null ? void 0 : unsubscribeThread();
      unsubscribeError == null ? void 0 : unsubscribeError();
      signal.removeEventListener("abort", finishAborted);
      resolve(result);
    }
    const finishAborted = () => finish({ event: "aborted" });
    const onEvent = (event) => {
      if (settled) return;
      if (event.method !== "lifecycle") return;
      if (!isRootNamespace(event.params.namespace)) return;
      const lifecycle = event.params.data;
      if ((lifecycle == null ? void 0 : lifecycle.event) === "running") {
        sawRunning = true;
        return;
      }
      if ((lifecycle == null ? void 0 : lifecycle.event) === "completed") setTimeout(() => finish({ event: "completed" }), 0);
      else if ((lifecycle == null ? void 0 : lifecycle.event) === "failed") setTimeout(() => finish({
        event: "failed",
        error: lifecycle.error
      }), 0);
      else if ((lifecycle == null ? void 0 : lifecycle.event) === "interrupted") {
        if (options.skipInterruptedUntilRunning && !sawRunning) return;
        setTimeout(() => finish({ event: "interrupted" }), 0);
      }
    };
    const unsubscribeRoot = __privateGet(this, _rootBus2).subscribe(onEvent);
    const unsubscribeThread = (_a17 = __privateGet(this, _thread2)) == null ? void 0 : _a17.onEvent(onEvent);
    const unsubscribeError = (_b = __privateGet(this, _thread2)) == null ? void 0 : _b.onError((error) => finish({
      event: "failed",
      error: error.message
    }));
    if (signal.aborted) finishAborted();
    else signal.addEventListener("abort", finishAborted, { once: true });
  });
}, /**
* Resolve which protocol interrupt a resume command should target.
* Headless-tool resumes are keyed by tool-call id; without matching
* on that id, parallel tool handlers would respond to the wrong
* interrupt (always the newest).
*/
resolveInterruptForResume_fn = function(resume) {
  const thread = __privateGet(this, _thread2);
  if (thread == null) return null;
  return resolveInterruptTargetForHeadlessResume(resume, thread.interrupts, __privateGet(this, _resolvedInterrupts));
}, /**
* Notify listeners that the underlying thread stream changed.
*/
notifyThreadListeners_fn = function() {
  for (const listener of __privateGet(this, _threadListeners)) listener(__privateGet(this, _thread2));
}, _a16);
function namespaceIsDefaultOnly(entry) {
  if (entry == null) return false;
  return entry.namespace.length === 1 && entry.namespace[0] === `tools:${entry.id}`;
}
function defaultSubagentToolCallId(namespace) {
  if (namespace.length !== 1) return void 0;
  const segment = namespace[0];
  if (!segment.startsWith("tools:")) return void 0;
  const id = segment.slice(6);
  return id.length > 0 ? id : void 0;
}
function extractAndCoerceMessages(values, messagesKey) {
  const raw = values[messagesKey];
  if (!Array.isArray(raw)) return [];
  return ensureMessageInstances(raw);
}
function extractAndCoerceMessagesWithFallback(values, messagesKey) {
  let raw = values[messagesKey];
  if (!Array.isArray(raw) && messagesKey !== "messages") raw = values[DEFAULT_MESSAGES_KEY];
  if (!Array.isArray(raw)) return null;
  return ensureMessageInstances(raw);
}
function collectActiveInterruptsFromTasks(tasks) {
  var _a17;
  const activeInterrupts = [];
  const activeIds = /* @__PURE__ */ new Set();
  for (const task of tasks) {
    if (!Array.isArray(task == null ? void 0 : task.interrupts)) continue;
    const typedTask = task;
    const checkpointNs = (_a17 = typedTask.checkpoint) == null ? void 0 : _a17.checkpoint_ns;
    const namespace = typeof checkpointNs === "string" && checkpointNs.length > 0 ? checkpointNs.split("|").filter((segment) => segment.length > 0) : [...ROOT_NAMESPACE];
    for (const interrupt of typedTask.interrupts) {
      const typed = interrupt;
      const id = typed == null ? void 0 : typed.id;
      if (typeof id !== "string" || activeIds.has(id)) continue;
      activeIds.add(id);
      activeInterrupts.push(normalizeInterruptForClient({
        id,
        value: typed == null ? void 0 : typed.value,
        namespace: Array.isArray(typed == null ? void 0 : typed.namespace) ? [...typed.namespace] : namespace
      }));
    }
  }
  return {
    activeInterrupts,
    activeIds
  };
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/projections/runtime.js
function openProjectionSubscription({ thread, channels, namespace, depth = 1, resumeOnPause = false, onSubscribe, onEvent, onFinally }) {
  let handle;
  let disposed = false;
  const start = async () => {
    try {
      const subscribeParams = {
        channels: [...channels],
        namespaces: namespace.length > 0 ? [[...namespace]] : [[]],
        depth
      };
      const subscription = await thread.subscribe(subscribeParams);
      handle = subscription;
      if (disposed) {
        await subscription.unsubscribe();
        return;
      }
      onSubscribe == null ? void 0 : onSubscribe();
      do {
        for await (const event of subscription) {
          if (disposed) break;
          onEvent(event);
        }
        if (disposed || !resumeOnPause || !subscription.isPaused) break;
        await subscription.waitForResume();
      } while (!disposed);
    } catch {
    } finally {
      onFinally == null ? void 0 : onFinally();
    }
  };
  start();
  return { async dispose() {
    disposed = true;
    try {
      await (handle == null ? void 0 : handle.unsubscribe());
    } catch {
    }
  } };
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/projections/messages.js
function messagesProjection(namespace) {
  const ns = [...namespace];
  return {
    key: `messages|${namespaceKey2(ns)}`,
    namespace: ns,
    initial: [],
    open({ thread, store, rootBus }) {
      const assembler = new MessageAssembler();
      const roleByKey = /* @__PURE__ */ new Map();
      const indexById = /* @__PURE__ */ new Map();
      const streamMessageIds = /* @__PURE__ */ new Set();
      let valuesMessageIds = /* @__PURE__ */ new Set();
      if (isRootNamespace(ns) && rootBus.channels.includes("messages")) {
        const unsubscribe = rootBus.subscribe((event) => {
          if (event.method !== "messages") return;
          if (!isRootNamespace(event.params.namespace)) return;
          applyEvent(event);
        });
        return { dispose() {
          unsubscribe();
        } };
      }
      let disposed = false;
      const pendingMessages = [];
      let dirty = false;
      let flushScheduled = false;
      const flushChannel = typeof MessageChannel !== "undefined" ? new MessageChannel() : null;
      const flush = () => {
        flushScheduled = false;
        if (!dirty || disposed) return;
        dirty = false;
        store.setValue(pendingMessages.slice());
      };
      if (flushChannel != null) flushChannel.port1.onmessage = flush;
      const scheduleFlush = () => {
        dirty = true;
        if (flushScheduled) return;
        flushScheduled = true;
        if (flushChannel != null) flushChannel.port2.postMessage(null);
        else setTimeout(flush, 0);
      };
      const applyValuesEvent = (event) => {
        const data = event.params.data;
        if (data == null || typeof data !== "object" || Array.isArray(data)) return;
        const rawMessages = data.messages;
        if (!Array.isArray(rawMessages) || rawMessages.length === 0) return;
        const reconciliation = reconcileMessagesFromValues({
          valueMessages: ensureMessageInstances(rawMessages),
          currentMessages: pendingMessages,
          currentIndexById: indexById,
          previousValueMessageIds: valuesMessageIds,
          streamedMessageIds: streamMessageIds,
          preferValuesMessage: shouldPreferValuesMessage
        });
        valuesMessageIds = reconciliation.valueMessageIds;
        const reconciledMessages = [...reconciliation.messages];
        pendingMessages.length = 0;
        for (const message of reconciledMessages) pendingMessages.push(message);
        indexById.clear();
        for (const [id, idx] of buildMessageIndex(pendingMessages)) indexById.set(id, idx);
        scheduleFlush();
      };
      const applyEvent = (event) => {
        const data = event.params.data;
        if (data.event === "message-start") {
          const startData = data;
          const role = startData.role ?? "ai";
          const extendedRole = startData.role ?? role;
          const maybeToolCallId = startData.tool_call_id;
          if (startData.id != null) roleByKey.set(startData.id, {
            role: extendedRole,
            toolCallId: maybeToolCallId
          });
        }
        const update = assembler.consume(event);
        if (update == null) return;
        const msg = update.message;
        const id = msg.id;
        if (id == null) return;
        const captured = roleByKey.get(id) ?? { role: "ai" };
        const base = assembledMessageToBaseMessage(msg, captured.role, { toolCallId: captured.toolCallId });
        streamMessageIds.add(id);
        const existingIdx = indexById.get(id);
        if (existingIdx == null) {
          indexById.set(id, pendingMessages.length);
          pendingMessages.push(base);
        } else pendingMessages[existingIdx] = base;
        scheduleFlush();
      };
      let runtime;
      const openSubscription = () => {
        runtime = openProjectionSubscription({
          thread,
          channels: ["messages", "values"],
          namespace: ns,
          onEvent(event) {
            if (event.method === "messages") applyEvent(event);
            else if (event.method === "values") applyValuesEvent(event);
          }
        });
      };
      (async () => {
        var _a17;
        if (!(await ((_a17 = rootBus.trySeedFromHistory) == null ? void 0 : _a17.call(rootBus, {
          kind: "messages",
          namespace: ns,
          store
        })) === true) && !disposed) openSubscription();
      })();
      return { async dispose() {
        disposed = true;
        if (flushChannel != null) {
          flushChannel.port1.onmessage = null;
          flushChannel.port1.close();
          flushChannel.port2.close();
        }
        await (runtime == null ? void 0 : runtime.dispose());
      } };
    }
  };
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/projections/tool-calls.js
function toolCallsProjection(namespace) {
  const ns = [...namespace];
  return {
    key: `toolCalls|${namespaceKey2(ns)}`,
    namespace: ns,
    initial: [],
    open({ thread, store, rootBus }) {
      const assembler = new ToolCallAssembler();
      const applyToolsEvent = (event) => {
        if (shouldIgnoreScopedTaskToolEvent(ns, event)) return;
        const tc = assembler.consume(event);
        if (tc == null) return;
        const next = upsertToolCall(store.getSnapshot(), tc);
        store.setValue(next);
      };
      if (isRootNamespace(ns) && rootBus.channels.includes("tools")) {
        const unsubscribe = rootBus.subscribe((event) => {
          if (event.method !== "tools") return;
          if (!isRootNamespace(event.params.namespace)) return;
          applyToolsEvent(event);
        });
        return { dispose() {
          unsubscribe();
        } };
      }
      let runtime;
      const openSubscription = () => {
        runtime = openProjectionSubscription({
          thread,
          channels: ["tools"],
          namespace: ns,
          onEvent(event) {
            if (event.method !== "tools") return;
            applyToolsEvent(event);
          }
        });
      };
      let disposed = false;
      (async () => {
        var _a17;
        if (!(await ((_a17 = rootBus.trySeedFromHistory) == null ? void 0 : _a17.call(rootBus, {
          kind: "toolCalls",
          namespace: ns,
          store
        })) === true) && !disposed) openSubscription();
      })();
      return { async dispose() {
        disposed = true;
        await (runtime == null ? void 0 : runtime.dispose());
      } };
    }
  };
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/projections/values.js
function valuesProjection(namespace, messagesKey = DEFAULT_MESSAGES_KEY) {
  const ns = [...namespace];
  return {
    key: `values|${messagesKey}|${namespaceKey2(ns)}`,
    namespace: ns,
    initial: void 0,
    open({ thread, store, rootBus }) {
      const applyValuesEvent = (event) => {
        const coerced = coerceMessagesInState(event.params.data, messagesKey);
        store.setValue(coerced);
      };
      if (isRootNamespace(ns) && rootBus.channels.includes("values")) {
        const unsubscribe = rootBus.subscribe((event) => {
          if (event.method !== "values") return;
          if (!isRootNamespace(event.params.namespace)) return;
          applyValuesEvent(event);
        });
        return { dispose() {
          unsubscribe();
        } };
      }
      return openProjectionSubscription({
        thread,
        channels: ["values"],
        namespace: ns,
        onEvent(event) {
          if (event.method !== "values") return;
          applyValuesEvent(event);
        }
      });
    }
  };
}
function coerceMessagesInState(value, messagesKey) {
  if (value == null || typeof value !== "object" || Array.isArray(value)) return value;
  const state = value;
  const maybeMessages = state[messagesKey];
  if (!Array.isArray(maybeMessages) || maybeMessages.length === 0) return value;
  if (!maybeMessages.some((m) => m != null && typeof m.getType !== "function")) return value;
  return {
    ...state,
    [messagesKey]: ensureMessageInstances(maybeMessages)
  };
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/projections/extension.js
function extensionProjection(name, namespace) {
  const ns = [...namespace];
  return {
    key: `extension|${name}|${namespaceKey2(ns)}`,
    namespace: ns,
    initial: void 0,
    open({ thread, store }) {
      return openProjectionSubscription({
        thread,
        channels: [`custom:${name}`],
        namespace: ns,
        resumeOnPause: true,
        onEvent(event) {
          const data = event.params.data;
          const payload = (data == null ? void 0 : data.payload) != null && typeof data.payload === "object" && "name" in data.payload ? data.payload : data;
          if ((payload == null ? void 0 : payload.name) !== name) return;
          store.setValue(payload.payload);
        }
      });
    }
  };
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/projections/channel.js
var DEFAULT_BUFFER = 4096;
function channelProjection(channels, namespace, options = {}) {
  const chs = [...channels].sort();
  const ns = [...namespace];
  const bufferSize = options.bufferSize ?? DEFAULT_BUFFER;
  const replay = options.replay ?? true;
  return {
    key: `channel|${bufferSize}|${replay ? "replay" : "live"}|${chs.join(",")}|${namespaceKey2(ns)}`,
    namespace: ns,
    initial: [],
    open({ thread, store, rootBus }) {
      if (!replay && isRootNamespace(ns) && chs.every((c) => rootBus.channels.includes(c))) {
        const requestedSet = new Set(chs);
        const matches = (event) => {
          const channel = inferChannel(event);
          if (channel === void 0) return false;
          return requestedSet.has(channel) || channel.startsWith("custom:") && requestedSet.has("custom");
        };
        const push = (event) => {
          if (!matches(event)) return;
          const current = store.getSnapshot();
          const next = current.length >= bufferSize ? [...current.slice(current.length - bufferSize + 1), event] : [...current, event];
          store.setValue(next);
        };
        const unsubscribe = rootBus.subscribe(push);
        return { dispose() {
          unsubscribe();
        } };
      }
      return openProjectionSubscription({
        thread,
        channels: chs,
        namespace: ns,
        resumeOnPause: true,
        onEvent(event) {
          const current = store.getSnapshot();
          const next = current.length >= bufferSize ? [...current.slice(current.length - bufferSize + 1), event] : [...current, event];
          store.setValue(next);
        }
      });
    }
  };
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/projections/channel-effect.js
function acquireChannelEffect(registry, channels, namespace, options) {
  const { onEvent, onError, ...projectionOptions } = options;
  const acquired = registry.acquire(channelProjection(channels, namespace, {
    replay: projectionOptions.replay ?? false,
    bufferSize: projectionOptions.bufferSize
  }));
  const { store } = acquired;
  const initial = store.getSnapshot();
  let lastDelivered = initial.length > 0 ? initial[initial.length - 1] : void 0;
  const deliver = () => {
    const snapshot = store.getSnapshot();
    let start = 0;
    if (lastDelivered !== void 0) {
      const index = snapshot.lastIndexOf(lastDelivered);
      start = index === -1 ? 0 : index + 1;
    }
    for (let i = start; i < snapshot.length; i += 1) {
      const event = snapshot[i];
      try {
        onEvent(event);
      } catch (error) {
        if (onError) onError(error);
      }
    }
    if (snapshot.length > 0) lastDelivered = snapshot[snapshot.length - 1];
  };
  const unsubscribe = store.subscribe(deliver);
  let released = false;
  return () => {
    if (released) return;
    released = true;
    unsubscribe();
    acquired.release();
  };
}

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/stream/projections/media.js
function createMediaProjection(kind, namespace, buildAssembler, options) {
  const ns = [...namespace];
  return {
    key: `${kind}|${namespaceKey2(ns)}`,
    namespace: ns,
    initial: [],
    open({ thread, store, rootBus }) {
      const assembler = buildAssembler((media) => {
        store.setValue([...store.getSnapshot(), media]);
      }, options);
      if (isRootNamespace(ns) && rootBus.channels.includes("messages")) {
        const unsubscribe = rootBus.subscribe((event) => {
          if (event.method !== "messages") return;
          if (!isRootNamespace(event.params.namespace)) return;
          assembler.consume(event);
        });
        return { async dispose() {
          unsubscribe();
          for (const media of store.getSnapshot()) try {
            media.revoke();
          } catch {
          }
          assembler.close();
        } };
      }
      const runtime = openProjectionSubscription({
        thread,
        channels: ["messages"],
        namespace: ns,
        onEvent(event) {
          if (event.method !== "messages") return;
          assembler.consume(event);
        },
        onFinally() {
          assembler.close();
        }
      });
      return { async dispose() {
        for (const media of store.getSnapshot()) try {
          media.revoke();
        } catch {
        }
        assembler.close();
        await runtime.dispose();
      } };
    }
  };
}
function audioProjection(namespace, options) {
  return createMediaProjection("audio", namespace, (push, opts) => new MediaAssembler({
    fetch: opts == null ? void 0 : opts.fetch,
    onAudio: (m) => push(m)
  }), options);
}
function imagesProjection(namespace, options) {
  return createMediaProjection("images", namespace, (push, opts) => new MediaAssembler({
    fetch: opts == null ? void 0 : opts.fetch,
    onImage: (m) => push(m)
  }), options);
}
function videoProjection(namespace, options) {
  return createMediaProjection("video", namespace, (push, opts) => new MediaAssembler({
    fetch: opts == null ? void 0 : opts.fetch,
    onVideo: (m) => push(m)
  }), options);
}
function filesProjection(namespace, options) {
  return createMediaProjection("files", namespace, (push, opts) => new MediaAssembler({
    fetch: opts == null ? void 0 : opts.fetch,
    onFile: (m) => push(m)
  }), options);
}

// node_modules/@langchain/react/dist/use-stream.js
var STREAM_CONTROLLER = Symbol.for("@langchain/react/controller");
function useStream(options) {
  const asBag = options;
  const hasCustomAdapter = asBag.transport != null && typeof asBag.transport !== "string";
  const transport = asBag.transport;
  const resolvedApiUrl = resolveClientApiUrl({
    apiUrl: asBag.apiUrl,
    transport: hasCustomAdapter ? transport : asBag.transport
  });
  const clientDeps = [
    asBag.client,
    resolvedApiUrl,
    asBag.apiKey,
    asBag.callerOptions,
    asBag.defaultHeaders
  ];
  const clientRef = (0, import_react.useRef)(null);
  if (clientRef.current == null || clientRef.current.deps.some((dep, i) => dep !== clientDeps[i])) clientRef.current = {
    deps: clientDeps,
    client: asBag.client ?? new Client({
      apiUrl: resolvedApiUrl,
      apiKey: asBag.apiKey,
      callerOptions: asBag.callerOptions,
      defaultHeaders: asBag.defaultHeaders
    })
  };
  const client = clientRef.current.client;
  const sentinel = "_";
  const assistantId = "assistantId" in options ? options.assistantId ?? sentinel : sentinel;
  const controllerDeps = [
    client,
    assistantId,
    transport
  ];
  const controllerRef = (0, import_react.useRef)(null);
  if (controllerRef.current == null || controllerRef.current.deps.some((dep, i) => dep !== controllerDeps[i])) controllerRef.current = {
    deps: controllerDeps,
    controller: new StreamController({
      assistantId,
      client,
      threadId: options.threadId ?? null,
      transport,
      fetch: hasCustomAdapter ? void 0 : asBag.fetch,
      webSocketFactory: hasCustomAdapter ? void 0 : asBag.webSocketFactory,
      maxReconnectAttempts: hasCustomAdapter ? void 0 : asBag.maxReconnectAttempts,
      streamIdleReconnect: hasCustomAdapter ? void 0 : asBag.streamIdleReconnect,
      reconnectDelayMs: hasCustomAdapter ? void 0 : asBag.reconnectDelayMs,
      onReconnect: hasCustomAdapter ? void 0 : asBag.onReconnect,
      onConnected: hasCustomAdapter ? void 0 : asBag.onConnected,
      onThreadId: options.onThreadId,
      onCreated: options.onCreated,
      onCompleted: options.onCompleted,
      initialValues: options.initialValues,
      messagesKey: options.messagesKey,
      optimistic: asBag.optimistic
    })
  };
  const controller = controllerRef.current.controller;
  const lastHydratedRef = (0, import_react.useRef)(null);
  (0, import_react.useEffect)(() => {
    const target = options.threadId ?? null;
    const last = lastHydratedRef.current;
    if ((last == null ? void 0 : last.controller) !== controller) {
      lastHydratedRef.current = {
        controller,
        threadId: target
      };
      return;
    }
    if (last.threadId === target) return;
    lastHydratedRef.current = {
      controller,
      threadId: target
    };
    controller.hydrate(target);
  }, [controller, options.threadId]);
  (0, import_react.useEffect)(() => controller.activate(), [controller]);
  const handledToolsRef = (0, import_react.useRef)(/* @__PURE__ */ new Set());
  (0, import_react.useEffect)(() => {
    handledToolsRef.current.clear();
  }, [options.threadId]);
  const tools = options.tools;
  const onTool = options.onTool;
  const rootValuesForTools = (0, import_react.useSyncExternalStore)(controller.rootStore.subscribe, () => controller.rootStore.getSnapshot().values, () => controller.rootStore.getSnapshot().values);
  const rootInterruptsForTools = (0, import_react.useSyncExternalStore)(controller.rootStore.subscribe, () => controller.rootStore.getSnapshot().interrupts, () => controller.rootStore.getSnapshot().interrupts);
  (0, import_react.useEffect)(() => {
    if (!(tools == null ? void 0 : tools.length)) return;
    const valuesBag = rootValuesForTools;
    const protocolInterrupts = rootInterruptsForTools;
    const valuesInterrupts = Array.isArray(valuesBag == null ? void 0 : valuesBag.__interrupt__) ? valuesBag.__interrupt__ : [];
    const headlessInterrupts = protocolInterrupts.length > 0 ? protocolInterrupts : valuesInterrupts;
    if (headlessInterrupts.length === 0) return;
    flushPendingHeadlessToolInterrupts({
      ...valuesBag,
      __interrupt__: headlessInterrupts
    }, tools, handledToolsRef.current, {
      onTool,
      defer: (run) => {
        Promise.resolve().then(run);
      },
      resumeSubmit: (command) => applyHeadlessToolResumeCommand(controller, command)
    });
  }, [
    controller,
    tools,
    onTool,
    rootValuesForTools,
    rootInterruptsForTools
  ]);
  const root = (0, import_react.useSyncExternalStore)(controller.rootStore.subscribe, controller.rootStore.getSnapshot, controller.rootStore.getSnapshot);
  const subagents = (0, import_react.useSyncExternalStore)(controller.subagentStore.subscribe, controller.subagentStore.getSnapshot, controller.subagentStore.getSnapshot);
  const subgraphs = (0, import_react.useSyncExternalStore)(controller.subgraphStore.subscribe, controller.subgraphStore.getSnapshot, controller.subgraphStore.getSnapshot);
  const subgraphsByNode = (0, import_react.useSyncExternalStore)(controller.subgraphByNodeStore.subscribe, controller.subgraphByNodeStore.getSnapshot, controller.subgraphByNodeStore.getSnapshot);
  return (0, import_react.useMemo)(() => {
    const userFacingInterrupts = filterOutHeadlessToolInterrupts(root.interrupts);
    return {
      values: root.values,
      messages: root.messages,
      toolCalls: root.toolCalls,
      interrupts: userFacingInterrupts,
      interrupt: userFacingInterrupts[0],
      isLoading: root.isLoading,
      isThreadLoading: root.isThreadLoading,
      hydrationPromise: controller.hydrationPromise,
      error: root.error,
      threadId: root.threadId,
      subagents,
      subgraphs,
      subgraphsByNode,
      submit: (input, submitOptions) => controller.submit(input, submitOptions),
      stop: (options2) => controller.stop(options2),
      disconnect: () => controller.disconnect(),
      respond: (response, options2) => controller.respond(response, options2),
      respondAll: (responsesById, options2) => controller.respondAll(responsesById, options2),
      getThread: () => controller.getThread(),
      client,
      assistantId,
      [STREAM_CONTROLLER]: controller
    };
  }, [
    root,
    subagents,
    subgraphs,
    subgraphsByNode,
    controller,
    client,
    assistantId
  ]);
}
function getRegistry(stream) {
  return stream[STREAM_CONTROLLER].registry;
}

// node_modules/@langchain/react/dist/use-projection.js
var import_react2 = __toESM(require_react(), 1);
function useProjection(registry, specFactory, key, initialValue) {
  const [store, setStore] = (0, import_react2.useState)(null);
  (0, import_react2.useEffect)(() => {
    if (registry == null) return void 0;
    const acquired = registry.acquire(specFactory());
    setStore(acquired.store);
    return () => {
      acquired.release();
      setStore(null);
    };
  }, [registry, key]);
  return (0, import_react2.useSyncExternalStore)(store != null ? store.subscribe : NOOP_SUBSCRIBE, () => store != null ? store.getSnapshot() : initialValue, () => initialValue);
}
var NOOP_SUBSCRIBE = () => () => {
};

// node_modules/@langchain/react/dist/selectors.js
var import_react3 = __toESM(require_react(), 1);
function resolveNamespace(target) {
  if (target == null) return EMPTY_NAMESPACE;
  if (Array.isArray(target)) return target;
  return target.namespace ?? EMPTY_NAMESPACE;
}
function subagentNeedingNamespace(target) {
  if (target == null || Array.isArray(target)) return null;
  const obj = target;
  if (typeof obj.id !== "string" || !Array.isArray(obj.namespace)) return null;
  if (obj.namespace.length === 1 && obj.namespace[0] === `tools:${obj.id}`) return obj.id;
  return null;
}
function useResolveSubagentNamespace(stream, target) {
  const controller = stream[STREAM_CONTROLLER];
  const toolCallId = subagentNeedingNamespace(target);
  (0, import_react3.useEffect)(() => {
    if (toolCallId == null) return;
    controller.resolveSubagentNamespace(toolCallId);
  }, [controller, toolCallId]);
}
var EMPTY_NAMESPACE = [];
function isRoot(namespace) {
  return namespace.length === 0;
}
function namespaceKey3(namespace) {
  return namespace.join(NAMESPACE_SEPARATOR);
}
function useMessages(stream, target) {
  useResolveSubagentNamespace(stream, target);
  const namespace = resolveNamespace(target);
  const key = `messages|${namespaceKey3(namespace)}`;
  const scoped = useProjection(isRoot(namespace) ? null : getRegistry(stream), () => messagesProjection(namespace), key, EMPTY_MESSAGES);
  return isRoot(namespace) ? stream.messages : scoped;
}
var EMPTY_MESSAGES = [];
function useToolCalls(stream, target) {
  useResolveSubagentNamespace(stream, target);
  const namespace = resolveNamespace(target);
  const key = `toolCalls|${namespaceKey3(namespace)}`;
  const scoped = useProjection(isRoot(namespace) ? null : getRegistry(stream), () => toolCallsProjection(namespace), key, EMPTY_TOOLCALLS);
  return isRoot(namespace) ? stream.toolCalls : scoped;
}
var EMPTY_TOOLCALLS = [];
function useValues(stream, target, options) {
  const namespace = resolveNamespace(target);
  const messagesKey = (options == null ? void 0 : options.messagesKey) ?? DEFAULT_MESSAGES_KEY;
  const key = `values|${messagesKey}|${namespaceKey3(namespace)}`;
  const scoped = useProjection(isRoot(namespace) ? null : getRegistry(stream), () => valuesProjection(namespace, messagesKey), key, void 0);
  return isRoot(namespace) ? stream.values : scoped;
}
function useExtension(stream, name, target) {
  const namespace = resolveNamespace(target);
  const key = `extension|${name}|${namespaceKey3(namespace)}`;
  return useProjection(getRegistry(stream), () => extensionProjection(name, namespace), key, void 0);
}
function useAudio(stream, target) {
  const namespace = resolveNamespace(target);
  const key = `audio|${namespaceKey3(namespace)}`;
  return useProjection(getRegistry(stream), () => audioProjection(namespace), key, EMPTY_AUDIO);
}
var EMPTY_AUDIO = [];
function useImages(stream, target) {
  const namespace = resolveNamespace(target);
  const key = `images|${namespaceKey3(namespace)}`;
  return useProjection(getRegistry(stream), () => imagesProjection(namespace), key, EMPTY_IMAGES);
}
var EMPTY_IMAGES = [];
function useVideo(stream, target) {
  const namespace = resolveNamespace(target);
  const key = `video|${namespaceKey3(namespace)}`;
  return useProjection(getRegistry(stream), () => videoProjection(namespace), key, EMPTY_VIDEO);
}
var EMPTY_VIDEO = [];
function useFiles(stream, target) {
  const namespace = resolveNamespace(target);
  const key = `files|${namespaceKey3(namespace)}`;
  return useProjection(getRegistry(stream), () => filesProjection(namespace), key, EMPTY_FILES);
}
var EMPTY_FILES = [];
function useChannel(stream, channels, target, options) {
  const namespace = resolveNamespace(target);
  const channelKey = (0, import_react3.useMemo)(() => [...channels].sort().join(","), [channels]);
  const key = `channel|${(options == null ? void 0 : options.bufferSize) ?? "default"}|${(options == null ? void 0 : options.replay) ?? true ? "replay" : "live"}|${channelKey}|${namespaceKey3(namespace)}`;
  return useProjection(getRegistry(stream), () => channelProjection(channels, namespace, options), key, EMPTY_EVENTS);
}
var EMPTY_EVENTS = [];
function useChannelEffect(stream, channels, options) {
  const { target, enabled = true, replay, bufferSize, onEvent, onError } = options;
  const onEventRef = (0, import_react3.useRef)(onEvent);
  const onErrorRef = (0, import_react3.useRef)(onError);
  onEventRef.current = onEvent;
  onErrorRef.current = onError;
  useResolveSubagentNamespace(stream, target);
  const namespace = resolveNamespace(target);
  const channelKey = (0, import_react3.useMemo)(() => [...channels].sort().join(","), [channels]);
  const key = `channelEffect|${bufferSize ?? "default"}|${replay ?? false ? "replay" : "live"}|${channelKey}|${namespaceKey3(namespace)}`;
  const registry = getRegistry(stream);
  (0, import_react3.useEffect)(() => {
    if (!enabled || registry == null) return void 0;
    return acquireChannelEffect(registry, channels, namespace, {
      replay,
      bufferSize,
      onEvent: (event) => onEventRef.current(event),
      onError: (error) => {
        var _a17;
        return (_a17 = onErrorRef.current) == null ? void 0 : _a17.call(onErrorRef, error);
      }
    });
  }, [
    registry,
    key,
    enabled
  ]);
}
function useMessageMetadata(stream, messageId) {
  const store = stream[STREAM_CONTROLLER].messageMetadataStore;
  const snapshot = (0, import_react3.useSyncExternalStore)(store.subscribe, store.getSnapshot, store.getSnapshot);
  return messageId == null ? void 0 : snapshot.get(messageId);
}
function useSubmissionQueue(stream) {
  const controller = stream[STREAM_CONTROLLER];
  const store = controller.queueStore;
  const entries = (0, import_react3.useSyncExternalStore)(store.subscribe, store.getSnapshot, store.getSnapshot);
  return (0, import_react3.useMemo)(() => ({
    entries,
    size: entries.length,
    cancel: (id) => controller.cancelQueued(id),
    clear: () => controller.clearQueue()
  }), [entries, controller]);
}

// node_modules/@langchain/react/dist/use-media-url.js
var import_react4 = __toESM(require_react(), 1);
function useMediaURL(media) {
  const [url, setUrl] = (0, import_react4.useState)();
  (0, import_react4.useEffect)(() => {
    if (media == null) {
      setUrl(void 0);
      return;
    }
    let cancelled = false;
    media.objectURL.then((resolved) => {
      if (!cancelled) setUrl(resolved);
    }, () => {
    });
    return () => {
      cancelled = true;
      setUrl(void 0);
      try {
        media.revoke();
      } catch {
      }
    };
  }, [media]);
  return url;
}

// node_modules/@langchain/react/dist/use-audio-player.js
var import_react5 = __toESM(require_react(), 1);
var DEFAULT_SAMPLE_RATE = 24e3;
var DEFAULT_CHANNELS = 1;
var ANALYSER_FFT_SIZE = 512;
var pumpRegistry = /* @__PURE__ */ new WeakMap();
function attachToPump(media, listener) {
  let controller = pumpRegistry.get(media);
  if (controller == null) {
    const reader = media.stream.getReader();
    controller = {
      chunks: [],
      finished: false,
      error: void 0,
      listeners: /* @__PURE__ */ new Set()
    };
    pumpRegistry.set(media, controller);
    const owned = controller;
    (async () => {
      try {
        while (true) {
          const { value, done } = await reader.read();
          if (done) break;
          if (value == null || value.byteLength === 0) continue;
          owned.chunks.push(value);
          for (const l of owned.listeners) try {
            l({
              type: "chunk",
              bytes: value
            });
          } catch {
          }
        }
        owned.finished = true;
        for (const l of owned.listeners) try {
          l({ type: "finished" });
        } catch {
        }
      } catch (err) {
        owned.error = err;
        for (const l of owned.listeners) try {
          l({
            type: "error",
            error: err
          });
        } catch {
        }
      } finally {
        try {
          reader.releaseLock();
        } catch {
        }
      }
    })();
  }
  for (const chunk of controller.chunks) listener({
    type: "chunk",
    bytes: chunk
  });
  if (controller.finished) listener({ type: "finished" });
  if (controller.error != null) listener({
    type: "error",
    error: controller.error
  });
  controller.listeners.add(listener);
  return () => {
    controller.listeners.delete(listener);
  };
}
function tryParseWavHeader(bytes) {
  if (bytes.byteLength < 12) return { status: "need-more" };
  if (bytes[0] !== 82 || bytes[1] !== 73 || bytes[2] !== 70 || bytes[3] !== 70 || bytes[8] !== 87 || bytes[9] !== 65 || bytes[10] !== 86 || bytes[11] !== 69) return {
    status: "invalid",
    reason: "not a RIFF/WAVE stream"
  };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let fmt = null;
  let offset = 12;
  while (offset + 8 <= bytes.byteLength) {
    const id = String.fromCharCode(bytes[offset], bytes[offset + 1], bytes[offset + 2], bytes[offset + 3]);
    const size = view.getUint32(offset + 4, true);
    const payloadStart = offset + 8;
    if (id === "fmt ") {
      if (payloadStart + 16 > bytes.byteLength) return { status: "need-more" };
      fmt = {
        audioFormat: view.getUint16(payloadStart, true),
        channels: view.getUint16(payloadStart + 2, true),
        sampleRate: view.getUint32(payloadStart + 4, true),
        bitsPerSample: view.getUint16(payloadStart + 14, true)
      };
      if (fmt.audioFormat !== 1) return {
        status: "invalid",
        reason: `unsupported WAV audioFormat=${fmt.audioFormat} (expected 1, linear PCM)`
      };
      if (fmt.bitsPerSample !== 16) return {
        status: "invalid",
        reason: `unsupported WAV bitsPerSample=${fmt.bitsPerSample} (expected 16)`
      };
    } else if (id === "data") {
      if (fmt == null) return {
        status: "invalid",
        reason: "data chunk preceded fmt chunk"
      };
      return {
        status: "parsed",
        format: {
          sampleRate: fmt.sampleRate,
          channels: fmt.channels,
          bitsPerSample: fmt.bitsPerSample
        },
        dataOffset: payloadStart
      };
    }
    offset = payloadStart + size + (size & 1);
  }
  return { status: "need-more" };
}
function concatChunks(chunks) {
  if (chunks.length === 1) return chunks[0];
  let total = 0;
  for (const c of chunks) total += c.byteLength;
  const out = new Uint8Array(total);
  let at = 0;
  for (const c of chunks) {
    out.set(c, at);
    at += c.byteLength;
  }
  return out;
}
function resolveAudioContextCtor() {
  if (typeof window === "undefined") return void 0;
  return window.AudioContext ?? window.webkitAudioContext;
}
function detectStrategy(mimeType, override, pcmPrefixes) {
  if (override === "pcm" || override === "element") return override;
  const m = mimeType ?? "";
  return m === "audio/pcm" || m === "audio/L16" || m.startsWith("audio/pcm;") || m.startsWith("audio/L16;") || m === "audio/wav" || m === "audio/wave" || m === "audio/x-wav" || m === "audio/vnd.wave" || ((pcmPrefixes == null ? void 0 : pcmPrefixes.some((p) => m.startsWith(p))) ?? false) ? "pcm" : "element";
}
function useAudioPlayer(media, options) {
  var _a17, _b;
  const sampleRate = ((_a17 = options == null ? void 0 : options.pcm) == null ? void 0 : _a17.sampleRate) ?? DEFAULT_SAMPLE_RATE;
  const channels = ((_b = options == null ? void 0 : options.pcm) == null ? void 0 : _b.channels) ?? DEFAULT_CHANNELS;
  const pcmPrefixes = options == null ? void 0 : options.pcmMimePrefixes;
  const strategyOverride = (options == null ? void 0 : options.strategy) ?? "auto";
  const autoPlay = (options == null ? void 0 : options.autoPlay) ?? false;
  const strategy = media ? detectStrategy(media.mimeType, strategyOverride, pcmPrefixes) : "element";
  const [status, setStatus] = (0, import_react5.useState)("idle");
  const [error, setError] = (0, import_react5.useState)(void 0);
  const [currentTime, setCurrentTime] = (0, import_react5.useState)(0);
  const [duration, setDuration] = (0, import_react5.useState)(void 0);
  const [level, setLevel] = (0, import_react5.useState)(0);
  const ctxRef = (0, import_react5.useRef)(null);
  const analyserRef = (0, import_react5.useRef)(null);
  const freqBufRef = (0, import_react5.useRef)(null);
  const timeBufRef = (0, import_react5.useRef)(null);
  const rafRef = (0, import_react5.useRef)(null);
  const playStartCtxTimeRef = (0, import_react5.useRef)(0);
  const nextStartTimeRef = (0, import_react5.useRef)(0);
  const shouldPlayRef = (0, import_react5.useRef)(false);
  const pendingChunksRef = (0, import_react5.useRef)([]);
  const activeSourcesRef = (0, import_react5.useRef)(/* @__PURE__ */ new Set());
  const formatRef = (0, import_react5.useRef)(null);
  const upstreamFinishedRef = (0, import_react5.useRef)(false);
  const audioElRef = (0, import_react5.useRef)(null);
  const elementSourceRef = (0, import_react5.useRef)(null);
  const pendingSrcRef = (0, import_react5.useRef)(void 0);
  const statusRef = (0, import_react5.useRef)("idle");
  (0, import_react5.useEffect)(() => {
    statusRef.current = status;
  }, [status]);
  const pendingResolveRef = (0, import_react5.useRef)(null);
  const pendingRejectRef = (0, import_react5.useRef)(null);
  const resolvePending = (0, import_react5.useCallback)(() => {
    const resolve = pendingResolveRef.current;
    pendingResolveRef.current = null;
    pendingRejectRef.current = null;
    resolve == null ? void 0 : resolve();
  }, []);
  const rejectPending = (0, import_react5.useCallback)((err) => {
    const reject = pendingRejectRef.current;
    pendingResolveRef.current = null;
    pendingRejectRef.current = null;
    reject == null ? void 0 : reject(err);
  }, []);
  (0, import_react5.useEffect)(() => {
    if (status === "finished" || status === "paused" || status === "idle") resolvePending();
    else if (status === "error") rejectPending(error ?? new Error("playback error"));
  }, [
    status,
    error,
    resolvePending,
    rejectPending
  ]);
  const tickAnalyser = (0, import_react5.useCallback)(() => {
    const analyser = analyserRef.current;
    const ctx = ctxRef.current;
    if (analyser == null) {
      rafRef.current = null;
      return;
    }
    const buf = timeBufRef.current;
    if (buf != null) {
      analyser.getByteTimeDomainData(buf);
      let sum = 0;
      for (let i = 0; i < buf.length; i += 1) {
        const v = (buf[i] - 128) / 128;
        sum += v * v;
      }
      setLevel(Math.sqrt(sum / buf.length));
    }
    if (ctx != null && statusRef.current === "playing") setCurrentTime(ctx.currentTime - playStartCtxTimeRef.current);
    if (typeof window !== "undefined") rafRef.current = window.requestAnimationFrame(tickAnalyser);
  }, []);
  const startAnalyserLoop = (0, import_react5.useCallback)(() => {
    if (rafRef.current != null) return;
    if (typeof window === "undefined") return;
    rafRef.current = window.requestAnimationFrame(tickAnalyser);
  }, [tickAnalyser]);
  const stopAnalyserLoop = (0, import_react5.useCallback)(() => {
    if (rafRef.current == null) return;
    if (typeof window !== "undefined") window.cancelAnimationFrame(rafRef.current);
    rafRef.current = null;
    setLevel(0);
  }, []);
  const ensureAnalyser = (0, import_react5.useCallback)((ctx) => {
    if (analyserRef.current != null) return analyserRef.current;
    const analyser = ctx.createAnalyser();
    analyser.fftSize = ANALYSER_FFT_SIZE;
    analyser.connect(ctx.destination);
    analyserRef.current = analyser;
    freqBufRef.current = new Uint8Array(analyser.frequencyBinCount);
    timeBufRef.current = new Uint8Array(analyser.fftSize);
    return analyser;
  }, []);
  const ensureContextForPcm = (0, import_react5.useCallback)(() => {
    if (ctxRef.current != null) return ctxRef.current;
    const format = formatRef.current;
    if (format == null) return null;
    const AudioCtx = resolveAudioContextCtor();
    if (AudioCtx == null) {
      setError(new Error("Web Audio API is not available in this environment"));
      setStatus("error");
      return null;
    }
    const ctx = new AudioCtx({ sampleRate: format.sampleRate });
    ctxRef.current = ctx;
    nextStartTimeRef.current = ctx.currentTime;
    ensureAnalyser(ctx);
    return ctx;
  }, [ensureAnalyser]);
  const ensureContextForElement = (0, import_react5.useCallback)(() => {
    if (ctxRef.current != null) return ctxRef.current;
    const AudioCtx = resolveAudioContextCtor();
    if (AudioCtx == null) return null;
    const ctx = new AudioCtx();
    ctxRef.current = ctx;
    ensureAnalyser(ctx);
    return ctx;
  }, [ensureAnalyser]);
  const scheduleChunk = (0, import_react5.useCallback)((ctx, bytes) => {
    const format = formatRef.current;
    const analyser = analyserRef.current;
    if (format == null || analyser == null) return;
    const { sampleRate: bufSampleRate, channels: bufChannels } = format;
    const sampleCount = Math.floor(bytes.byteLength / 2);
    if (sampleCount === 0) return;
    const framesPerChannel = Math.floor(sampleCount / bufChannels);
    if (framesPerChannel === 0) return;
    const buffer = ctx.createBuffer(bufChannels, framesPerChannel, bufSampleRate);
    const view = new DataView(bytes.buffer, bytes.byteOffset, framesPerChannel * bufChannels * 2);
    for (let channel = 0; channel < bufChannels; channel += 1) {
      const channelData = buffer.getChannelData(channel);
      for (let frame = 0; frame < framesPerChannel; frame += 1) {
        const sampleOffset = (frame * bufChannels + channel) * 2;
        const int = view.getInt16(sampleOffset, true);
        channelData[frame] = int < 0 ? int / 32768 : int / 32767;
      }
    }
    const source = ctx.createBufferSource();
    source.buffer = buffer;
    source.connect(analyser);
    const now = ctx.currentTime;
    const startAt = Math.max(now, nextStartTimeRef.current);
    source.start(startAt);
    nextStartTimeRef.current = startAt + buffer.duration;
    activeSourcesRef.current.add(source);
    source.onended = () => {
      activeSourcesRef.current.delete(source);
      if (activeSourcesRef.current.size === 0 && upstreamFinishedRef.current && pendingChunksRef.current.length === 0) setStatus("finished");
    };
  }, []);
  const flushPendingPcm = (0, import_react5.useCallback)(() => {
    if (!shouldPlayRef.current) return;
    const ctx = ensureContextForPcm();
    if (ctx == null) return;
    if (ctx.state === "suspended") ctx.resume();
    const chunks = pendingChunksRef.current;
    pendingChunksRef.current = [];
    for (const bytes of chunks) scheduleChunk(ctx, bytes);
    if (chunks.length > 0 && statusRef.current !== "playing") {
      playStartCtxTimeRef.current = ctx.currentTime;
      setCurrentTime(0);
      setStatus("playing");
      startAnalyserLoop();
    }
  }, [
    ensureContextForPcm,
    scheduleChunk,
    startAnalyserLoop
  ]);
  const play = (0, import_react5.useCallback)(() => {
    if (media == null) return;
    if (statusRef.current === "error") return;
    if (strategy === "pcm") {
      shouldPlayRef.current = true;
      if (statusRef.current !== "playing") setStatus("buffering");
      const ctx2 = ensureContextForPcm();
      if (ctx2 != null && ctx2.state === "suspended") ctx2.resume();
      flushPendingPcm();
      return;
    }
    const audio = audioElRef.current;
    if (audio == null) {
      shouldPlayRef.current = true;
      setStatus("buffering");
      return;
    }
    shouldPlayRef.current = true;
    const ctx = ensureContextForElement();
    if (ctx != null && ctx.state === "suspended") ctx.resume();
    audio.play().catch((err) => {
      setError(err);
      setStatus("error");
    });
  }, [
    media,
    strategy,
    ensureContextForPcm,
    ensureContextForElement,
    flushPendingPcm
  ]);
  const pause = (0, import_react5.useCallback)(() => {
    var _a18;
    shouldPlayRef.current = false;
    if (strategy === "pcm") {
      const ctx = ctxRef.current;
      if (ctx != null && ctx.state === "running") ctx.suspend();
    } else (_a18 = audioElRef.current) == null ? void 0 : _a18.pause();
    if (statusRef.current === "playing" || statusRef.current === "buffering") setStatus("paused");
  }, [strategy]);
  const stop = (0, import_react5.useCallback)(() => {
    shouldPlayRef.current = false;
    stopAnalyserLoop();
    if (strategy === "pcm") {
      for (const source of activeSourcesRef.current) try {
        source.stop();
      } catch {
      }
      activeSourcesRef.current.clear();
      pendingChunksRef.current = [];
      nextStartTimeRef.current = 0;
    } else {
      const audio = audioElRef.current;
      if (audio != null) {
        audio.pause();
        audio.currentTime = 0;
      }
    }
    const ctx = ctxRef.current;
    ctxRef.current = null;
    analyserRef.current = null;
    freqBufRef.current = null;
    timeBufRef.current = null;
    elementSourceRef.current = null;
    if (ctx != null) ctx.close();
    setCurrentTime(0);
    setStatus(media == null ? "idle" : "paused");
  }, [
    strategy,
    media,
    stopAnalyserLoop
  ]);
  const reset = (0, import_react5.useCallback)(() => {
    stop();
    setError(void 0);
    setDuration(void 0);
    upstreamFinishedRef.current = false;
    setStatus("idle");
  }, [stop]);
  const toggle = (0, import_react5.useCallback)(() => {
    if (statusRef.current === "playing") pause();
    else play();
  }, [play, pause]);
  const playToEnd = (0, import_react5.useCallback)(() => {
    var _a18;
    (_a18 = pendingResolveRef.current) == null ? void 0 : _a18.call(pendingResolveRef);
    pendingResolveRef.current = null;
    pendingRejectRef.current = null;
    return new Promise((resolve, reject) => {
      pendingResolveRef.current = resolve;
      pendingRejectRef.current = reject;
      play();
    });
  }, [play]);
  const seek = (0, import_react5.useCallback)((seconds) => {
    if (strategy !== "element") return;
    const audio = audioElRef.current;
    if (audio == null) return;
    audio.currentTime = seconds;
    setCurrentTime(seconds);
  }, [strategy]);
  const getFrequencyData = (0, import_react5.useCallback)(() => {
    const analyser = analyserRef.current;
    const buf = freqBufRef.current;
    if (analyser == null || buf == null) return void 0;
    analyser.getByteFrequencyData(buf);
    return buf;
  }, []);
  const getTimeDomainData = (0, import_react5.useCallback)(() => {
    const analyser = analyserRef.current;
    const buf = timeBufRef.current;
    if (analyser == null || buf == null) return void 0;
    analyser.getByteTimeDomainData(buf);
    return buf;
  }, []);
  const autoPlayRef = (0, import_react5.useRef)(autoPlay);
  (0, import_react5.useEffect)(() => {
    autoPlayRef.current = autoPlay;
  }, [autoPlay]);
  (0, import_react5.useEffect)(() => {
    if ((media == null ? void 0 : media.error) == null) return;
    setError(new Error(media.error.message));
    setStatus("error");
  }, [media]);
  (0, import_react5.useEffect)(() => {
    if (media == null || strategy !== "pcm") return void 0;
    setError(void 0);
    setStatus("buffering");
    setCurrentTime(0);
    setDuration(void 0);
    upstreamFinishedRef.current = false;
    pendingChunksRef.current = [];
    const mimeType = media.mimeType ?? "";
    const isRawPcm = mimeType === "audio/pcm" || mimeType === "audio/L16" || mimeType.startsWith("audio/pcm;") || mimeType.startsWith("audio/L16;") || pcmPrefixes != null && pcmPrefixes.some((prefix) => mimeType.startsWith(prefix));
    const isWav = mimeType === "audio/wav" || mimeType === "audio/wave" || mimeType === "audio/x-wav" || mimeType === "audio/vnd.wave";
    if (isRawPcm) formatRef.current = {
      sampleRate,
      channels,
      bitsPerSample: 16
    };
    else if (isWav) formatRef.current = null;
    else {
      setError(new Error(`useAudioPlayer: forced PCM strategy for unsupported mime ${JSON.stringify(mimeType)}`));
      setStatus("error");
      return;
    }
    const wavHeaderChunks = [];
    let wavHeaderParsed = !isWav;
    let wavHeaderFailed = false;
    const routeChunk = (bytes) => {
      if (wavHeaderFailed) return;
      if (wavHeaderParsed) {
        pendingChunksRef.current.push(bytes);
        if (shouldPlayRef.current) flushPendingPcm();
        return;
      }
      wavHeaderChunks.push(bytes);
      const combined = concatChunks(wavHeaderChunks);
      const result = tryParseWavHeader(combined);
      if (result.status === "need-more") return;
      if (result.status === "invalid") {
        wavHeaderFailed = true;
        setError(new Error(`useAudioPlayer: invalid WAV stream: ${result.reason}`));
        setStatus("error");
        return;
      }
      formatRef.current = result.format;
      wavHeaderParsed = true;
      wavHeaderChunks.length = 0;
      const tail = combined.subarray(result.dataOffset);
      if (tail.byteLength > 0) {
        pendingChunksRef.current.push(tail);
        if (shouldPlayRef.current) flushPendingPcm();
      }
    };
    if (autoPlayRef.current) shouldPlayRef.current = true;
    const unsubscribe = attachToPump(media, (event) => {
      switch (event.type) {
        case "chunk":
          routeChunk(event.bytes);
          break;
        case "finished":
          upstreamFinishedRef.current = true;
          if (pendingChunksRef.current.length === 0 && activeSourcesRef.current.size === 0) setStatus("finished");
          break;
        case "error":
          setError(event.error);
          setStatus("error");
          break;
      }
    });
    return () => {
      unsubscribe();
      stop();
    };
  }, [
    media,
    strategy,
    sampleRate,
    channels,
    pcmPrefixes,
    flushPendingPcm,
    stop
  ]);
  (0, import_react5.useEffect)(() => {
    if (media == null || strategy !== "element") return void 0;
    if (typeof window === "undefined") return void 0;
    setError(void 0);
    setStatus("buffering");
    setCurrentTime(0);
    setDuration(void 0);
    let cancelled = false;
    let audio = null;
    media.objectURL.then((resolved) => {
      if (cancelled) return;
      pendingSrcRef.current = resolved;
      audio = new Audio(resolved);
      audio.preload = "auto";
      audioElRef.current = audio;
      const onPlay = () => {
        if (statusRef.current === "error") return;
        const ctx = ensureContextForElement();
        if (ctx != null && elementSourceRef.current == null && audio != null) try {
          const src = ctx.createMediaElementSource(audio);
          src.connect(analyserRef.current);
          elementSourceRef.current = src;
        } catch {
        }
        playStartCtxTimeRef.current = 0;
        setCurrentTime((audio == null ? void 0 : audio.currentTime) ?? 0);
        setStatus("playing");
        startAnalyserLoop();
      };
      const onPause = () => {
        if (audio != null && audio.ended) return;
        if (statusRef.current === "playing") setStatus("paused");
      };
      const onEnded = () => {
        setStatus("finished");
      };
      const onTimeUpdate = () => {
        if (audio != null) setCurrentTime(audio.currentTime);
      };
      const onLoadedMetadata = () => {
        if (audio != null && Number.isFinite(audio.duration)) setDuration(audio.duration);
      };
      const onError = () => {
        setError(new Error("HTMLAudioElement error"));
        setStatus("error");
      };
      audio.addEventListener("play", onPlay);
      audio.addEventListener("pause", onPause);
      audio.addEventListener("ended", onEnded);
      audio.addEventListener("timeupdate", onTimeUpdate);
      audio.addEventListener("loadedmetadata", onLoadedMetadata);
      audio.addEventListener("error", onError);
      if (shouldPlayRef.current || autoPlayRef.current) audio.play().catch((err) => {
        setError(err);
        setStatus("error");
      });
      else setStatus("paused");
    }, () => {
      if (!cancelled) {
        setError(new Error("media failed to materialise"));
        setStatus("error");
      }
    });
    return () => {
      cancelled = true;
      const el = audioElRef.current;
      audioElRef.current = null;
      elementSourceRef.current = null;
      if (el != null) try {
        el.pause();
        el.removeAttribute("src");
        el.load();
      } catch {
      }
      stop();
      try {
        media.revoke();
      } catch {
      }
    };
  }, [
    media,
    strategy,
    ensureContextForElement,
    startAnalyserLoop,
    stop
  ]);
  (0, import_react5.useEffect)(() => {
    if (media != null) return;
    setStatus("idle");
    setError(void 0);
    setCurrentTime(0);
    setDuration(void 0);
    setLevel(0);
    upstreamFinishedRef.current = false;
  }, [media]);
  return {
    status,
    strategy,
    play,
    pause,
    stop,
    toggle,
    reset,
    playToEnd,
    currentTime,
    duration: strategy === "element" ? duration : void 0,
    seek: strategy === "element" ? seek : void 0,
    level,
    getFrequencyData,
    getTimeDomainData,
    error
  };
}

// node_modules/@langchain/react/dist/use-video-player.js
var import_react6 = __toESM(require_react(), 1);
function useVideoPlayer(videoRef, media, options) {
  const autoPlay = (options == null ? void 0 : options.autoPlay) ?? false;
  const [status, setStatus] = (0, import_react6.useState)("idle");
  const [error, setError] = (0, import_react6.useState)(void 0);
  const [currentTime, setCurrentTime] = (0, import_react6.useState)(0);
  const [duration, setDuration] = (0, import_react6.useState)(void 0);
  const statusRef = (0, import_react6.useRef)("idle");
  (0, import_react6.useEffect)(() => {
    statusRef.current = status;
  }, [status]);
  const shouldPlayRef = (0, import_react6.useRef)(false);
  const pendingResolveRef = (0, import_react6.useRef)(null);
  const pendingRejectRef = (0, import_react6.useRef)(null);
  const resolvePending = (0, import_react6.useCallback)(() => {
    const resolve = pendingResolveRef.current;
    pendingResolveRef.current = null;
    pendingRejectRef.current = null;
    resolve == null ? void 0 : resolve();
  }, []);
  const rejectPending = (0, import_react6.useCallback)((err) => {
    const reject = pendingRejectRef.current;
    pendingResolveRef.current = null;
    pendingRejectRef.current = null;
    reject == null ? void 0 : reject(err);
  }, []);
  (0, import_react6.useEffect)(() => {
    if (status === "finished" || status === "paused" || status === "idle") resolvePending();
    else if (status === "error") rejectPending(error ?? new Error("playback error"));
  }, [
    status,
    error,
    resolvePending,
    rejectPending
  ]);
  const play = (0, import_react6.useCallback)(() => {
    if (media == null) return;
    if (statusRef.current === "error") return;
    shouldPlayRef.current = true;
    const video = videoRef.current;
    if (video == null) {
      setStatus("buffering");
      return;
    }
    video.play().catch((err) => {
      setError(err);
      setStatus("error");
    });
  }, [media, videoRef]);
  const pause = (0, import_react6.useCallback)(() => {
    var _a17;
    shouldPlayRef.current = false;
    (_a17 = videoRef.current) == null ? void 0 : _a17.pause();
    if (statusRef.current === "playing" || statusRef.current === "buffering") setStatus("paused");
  }, [videoRef]);
  const stop = (0, import_react6.useCallback)(() => {
    shouldPlayRef.current = false;
    const video = videoRef.current;
    if (video != null) {
      video.pause();
      video.currentTime = 0;
    }
    setCurrentTime(0);
    setStatus(media == null ? "idle" : "paused");
  }, [videoRef, media]);
  const reset = (0, import_react6.useCallback)(() => {
    stop();
    setError(void 0);
    setDuration(void 0);
    setStatus("idle");
  }, [stop]);
  const toggle = (0, import_react6.useCallback)(() => {
    if (statusRef.current === "playing") pause();
    else play();
  }, [play, pause]);
  const playToEnd = (0, import_react6.useCallback)(() => {
    var _a17;
    (_a17 = pendingResolveRef.current) == null ? void 0 : _a17.call(pendingResolveRef);
    pendingResolveRef.current = null;
    pendingRejectRef.current = null;
    return new Promise((resolve, reject) => {
      pendingResolveRef.current = resolve;
      pendingRejectRef.current = reject;
      play();
    });
  }, [play]);
  const seek = (0, import_react6.useCallback)((seconds) => {
    const video = videoRef.current;
    if (video == null) return;
    video.currentTime = seconds;
    setCurrentTime(seconds);
  }, [videoRef]);
  (0, import_react6.useEffect)(() => {
    if ((media == null ? void 0 : media.error) == null) return;
    setError(new Error(media.error.message));
    setStatus("error");
  }, [media]);
  (0, import_react6.useEffect)(() => {
    if (media == null) {
      setStatus("idle");
      setError(void 0);
      setCurrentTime(0);
      setDuration(void 0);
      return;
    }
    setError(void 0);
    setStatus("buffering");
    setCurrentTime(0);
    setDuration(void 0);
    let cancelled = false;
    const video = videoRef.current;
    media.objectURL.then((resolved) => {
      if (cancelled) return;
      if (video == null) return;
      video.src = resolved;
      if (shouldPlayRef.current || autoPlay) video.play().catch((err) => {
        setError(err);
        setStatus("error");
      });
      else setStatus("paused");
    }, () => {
      if (!cancelled) {
        setError(new Error("media failed to materialise"));
        setStatus("error");
      }
    });
    if (video == null) return () => {
      cancelled = true;
      try {
        media.revoke();
      } catch {
      }
    };
    const onPlay = () => {
      if (statusRef.current !== "error") setStatus("playing");
    };
    const onPause = () => {
      if (video.ended) return;
      if (statusRef.current === "playing") setStatus("paused");
    };
    const onEnded = () => {
      setStatus("finished");
    };
    const onTimeUpdate = () => {
      setCurrentTime(video.currentTime);
    };
    const onLoadedMetadata = () => {
      if (Number.isFinite(video.duration)) setDuration(video.duration);
    };
    const onError = () => {
      setError(new Error("HTMLVideoElement error"));
      setStatus("error");
    };
    video.addEventListener("play", onPlay);
    video.addEventListener("pause", onPause);
    video.addEventListener("ended", onEnded);
    video.addEventListener("timeupdate", onTimeUpdate);
    video.addEventListener("loadedmetadata", onLoadedMetadata);
    video.addEventListener("error", onError);
    return () => {
      cancelled = true;
      video.removeEventListener("play", onPlay);
      video.removeEventListener("pause", onPause);
      video.removeEventListener("ended", onEnded);
      video.removeEventListener("timeupdate", onTimeUpdate);
      video.removeEventListener("loadedmetadata", onLoadedMetadata);
      video.removeEventListener("error", onError);
      try {
        video.pause();
        video.removeAttribute("src");
        video.load();
      } catch {
      }
      try {
        media.revoke();
      } catch {
      }
    };
  }, [
    media,
    videoRef,
    autoPlay
  ]);
  return {
    status,
    play,
    pause,
    stop,
    toggle,
    reset,
    playToEnd,
    currentTime,
    duration,
    seek,
    error
  };
}

// node_modules/@langchain/react/dist/suspense-stream.js
var suspenseEntries = /* @__PURE__ */ new Map();
function suspenseKey(options) {
  if (options.threadId == null) return null;
  return `${options.apiUrl ?? "_"}::${options.assistantId ?? "_"}::${options.threadId}`;
}
function useSuspenseStream(options) {
  const key = suspenseKey(options);
  const stream = useStream(options);
  if (key != null && !suspenseEntries.has(key)) {
    const entry2 = {
      promise: stream.hydrationPromise.then(() => {
        entry2.settled = true;
      }, (error) => {
        entry2.settled = true;
        entry2.error = error instanceof Error ? error : new Error(String(error));
        throw entry2.error;
      }),
      settled: false
    };
    suspenseEntries.set(key, entry2);
  }
  const entry = key != null ? suspenseEntries.get(key) : void 0;
  if (entry && !entry.settled) throw entry.promise;
  if ((entry == null ? void 0 : entry.error) != null) throw entry.error;
  if (stream.error != null && !stream.isLoading) throw stream.error instanceof Error ? stream.error : new Error(String(stream.error));
  return {
    get values() {
      return stream.values;
    },
    get messages() {
      return stream.messages;
    },
    get toolCalls() {
      return stream.toolCalls;
    },
    get interrupt() {
      return stream.interrupt;
    },
    get interrupts() {
      return stream.interrupts;
    },
    get subagents() {
      return stream.subagents;
    },
    get subgraphs() {
      return stream.subgraphs;
    },
    get subgraphsByNode() {
      return stream.subgraphsByNode;
    },
    submit: stream.submit,
    stop: stream.stop,
    disconnect: stream.disconnect,
    respond: stream.respond,
    getThread: stream.getThread,
    get client() {
      return stream.client;
    },
    get assistantId() {
      return stream.assistantId;
    },
    get threadId() {
      return stream.threadId;
    },
    get error() {
      return stream.error;
    },
    get isStreaming() {
      return stream.isLoading;
    }
  };
}

// node_modules/@langchain/react/dist/context.js
var import_react7 = __toESM(require_react(), 1);
var import_jsx_runtime = __toESM(require_jsx_runtime(), 1);
var StreamContext = (0, import_react7.createContext)(null);
function StreamProvider(props) {
  const { children, ...options } = props;
  const stream = useStream(options);
  return (0, import_jsx_runtime.jsx)(StreamContext.Provider, {
    value: stream,
    children
  });
}
function useStreamContext() {
  const context = (0, import_react7.useContext)(StreamContext);
  if (context === null) throw new Error("useStreamContext must be used within a <StreamProvider>. Wrap your component tree with <StreamProvider> or use useStream() directly.");
  return context;
}
export {
  HttpAgentServerAdapter,
  MediaAssemblyError,
  STREAM_CONTROLLER,
  StreamProvider,
  applyHeadlessToolResumeCommand,
  executeHeadlessTool,
  filterOutHeadlessToolInterrupts,
  findHeadlessTool,
  flushPendingHeadlessToolInterrupts,
  handleHeadlessToolInterrupt,
  headlessToolResumeCommand,
  isHeadlessToolInterrupt,
  parseHeadlessToolInterruptPayload,
  useAudio,
  useAudioPlayer,
  useChannel,
  useChannelEffect,
  useExtension,
  useFiles,
  useImages,
  useMediaURL,
  useMessageMetadata,
  useMessages,
  useProjection,
  useStream,
  useStreamContext,
  useSubmissionQueue,
  useSuspenseStream,
  useToolCalls,
  useValues,
  useVideo,
  useVideoPlayer
};
/*! Bundled license information:

react/cjs/react-jsx-runtime.development.js:
  (**
   * @license React
   * react-jsx-runtime.development.js
   *
   * Copyright (c) Meta Platforms, Inc. and affiliates.
   *
   * This source code is licensed under the MIT license found in the
   * LICENSE file in the root directory of this source tree.
   *)
*/
//# sourceMappingURL=@langchain_react.js.map
