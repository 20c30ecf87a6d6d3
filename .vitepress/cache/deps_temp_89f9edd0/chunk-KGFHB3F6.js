import {
  AIMessage
} from "./chunk-AUYU756B.js";
import {
  __privateAdd,
  __privateGet,
  __privateMethod,
  __privateSet,
  __privateWrapper,
  __publicField
} from "./chunk-WOOG5QLI.js";

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/multi-cursor-buffer.js
var _items, _wakeups, _closed, _a;
var MultiCursorBuffer = (_a = class {
  constructor() {
    __privateAdd(this, _items, []);
    __privateAdd(this, _wakeups, /* @__PURE__ */ new Set());
    __privateAdd(this, _closed, false);
  }
  push(item) {
    __privateGet(this, _items).push(item);
    for (const cb of __privateGet(this, _wakeups)) cb();
    __privateGet(this, _wakeups).clear();
  }
  close() {
    __privateSet(this, _closed, true);
    for (const cb of __privateGet(this, _wakeups)) cb();
    __privateGet(this, _wakeups).clear();
  }
  get length() {
    return __privateGet(this, _items).length;
  }
  [Symbol.asyncIterator]() {
    let cursor = 0;
    return {
      next: async () => {
        while (true) {
          if (cursor < __privateGet(this, _items).length) return {
            done: false,
            value: __privateGet(this, _items)[cursor++]
          };
          if (__privateGet(this, _closed)) return {
            done: true,
            value: void 0
          };
          await new Promise((resolve) => {
            __privateGet(this, _wakeups).add(resolve);
          });
        }
      },
      return: async () => ({
        done: true,
        value: void 0
      })
    };
  }
}, _items = new WeakMap(), _wakeups = new WeakMap(), _closed = new WeakMap(), _a);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/handles/tools.js
function toClientAssembledToolCall(handle) {
  return {
    name: handle.name,
    callId: handle.callId,
    id: handle.id,
    namespace: handle.namespace,
    input: handle.input,
    args: handle.args,
    output: handle.outputPromise
  };
}
function parseToolPayload(value) {
  if (typeof value !== "string") return value;
  const trimmed = value.trim();
  if (!trimmed.startsWith("{") && !trimmed.startsWith("[")) return value;
  try {
    return JSON.parse(trimmed);
  } catch {
    return value;
  }
}
function shouldIgnoreScopedTaskToolEvent(scopeNamespace, event) {
  const data = event.params.data;
  return scopeNamespace.length > 0 && event.params.namespace.length === scopeNamespace.length && event.params.namespace.every((segment, index) => segment === scopeNamespace[index]) && "tool_name" in data && data.tool_name === "task";
}
function getWireMessageField(message, field) {
  if (!message || typeof message !== "object" || Array.isArray(message)) return;
  const record = message;
  if (field in record) return record[field];
  const kwargs = record.kwargs;
  if (kwargs != null && field in kwargs) return kwargs[field];
  const lcKwargs = record.lc_kwargs;
  if (lcKwargs != null && field in lcKwargs) return lcKwargs[field];
}
function isToolMessageLike(value) {
  if (!value || typeof value !== "object") return false;
  if (value.type === "tool") return true;
  if (getWireMessageField(value, "type") === "tool") return true;
  return typeof getWireMessageField(value, "tool_call_id") === "string" && getWireMessageField(value, "content") !== void 0;
}
function isCommandLike(value) {
  return !!value && typeof value === "object" && value.lg_name === "Command";
}
function textFromContentBlocks(content) {
  let out = "";
  for (const block of content) {
    if (!block || typeof block !== "object") continue;
    const record = block;
    if (record.type === "text" && typeof record.text === "string") out += record.text;
  }
  return out;
}
function parseToolResultContent(content) {
  if (content == null) return null;
  if (typeof content === "string") {
    if (content.trim().length === 0) return null;
    return parseToolPayload(content);
  }
  if (Array.isArray(content)) {
    const text = textFromContentBlocks(content);
    if (text.length === 0) return null;
    return parseToolPayload(text);
  }
  if (typeof content === "object") return content;
  return null;
}
function parseToolMessageRecord(message) {
  return parseToolResultContent(getWireMessageField(message, "content"));
}
function parseCommandToolOutput(command, toolCallId) {
  const update = command.update;
  if (update == null || typeof update !== "object" || Array.isArray(update)) return { found: false };
  const messages = update.messages;
  if (!Array.isArray(messages)) return { found: false };
  const toolMessages = messages.filter((message) => isToolMessageLike(message));
  if (toolMessages.length === 0) return { found: false };
  if (toolCallId != null) {
    for (const message of toolMessages) {
      if (getWireMessageField(message, "tool_call_id") !== toolCallId) continue;
      return {
        found: true,
        value: parseToolMessageRecord(message)
      };
    }
    return { found: false };
  }
  if (toolMessages.length === 1) return {
    found: true,
    value: parseToolMessageRecord(toolMessages[0])
  };
  for (let i = toolMessages.length - 1; i >= 0; i -= 1) {
    const parsed = parseToolMessageRecord(toolMessages[i]);
    if (parsed != null) return {
      found: true,
      value: parsed
    };
  }
  return {
    found: true,
    value: null
  };
}
function parseToolOutput(value, toolCallId) {
  const parsed = parseToolPayload(value);
  if (isCommandLike(parsed)) {
    const commandOutput = parseCommandToolOutput(parsed, toolCallId);
    return commandOutput.found ? commandOutput.value : parsed;
  }
  if (isToolMessageLike(parsed)) return parseToolResultContent(getWireMessageField(parsed, "content"));
  return parsed ?? null;
}
var ToolCallAssembler = class {
  constructor() {
    __publicField(this, "active", /* @__PURE__ */ new Map());
  }
  consume(event) {
    const data = event.params.data;
    if (data.event === "tool-started") return this.handleStarted(event, data);
    if (data.event === "tool-finished") return this.handleFinished(data);
    if (data.event === "tool-error") return this.handleError(data);
  }
  /**
  * Reject any in-flight tool calls (e.g. on session close).
  */
  failAll(reason) {
    for (const entry of this.active.values()) {
      entry.rejectOutput(reason);
      entry.handle.status = "error";
      entry.handle.error = reason.message;
    }
    this.active.clear();
  }
  handleStarted(event, data) {
    let resolveOutput;
    let rejectOutput;
    const outputPromise = new Promise((resolve, reject) => {
      resolveOutput = resolve;
      rejectOutput = reject;
    });
    outputPromise.catch(() => void 0);
    const input = parseToolPayload(data.input);
    const name = data.tool_name;
    const callId = data.tool_call_id;
    const handle = {
      name,
      callId,
      id: callId,
      namespace: [...event.params.namespace],
      input,
      args: input,
      output: null,
      status: "running",
      error: void 0,
      outputPromise
    };
    this.active.set(callId, {
      handle,
      resolveOutput,
      rejectOutput
    });
    return handle;
  }
  handleFinished(data) {
    const entry = this.active.get(data.tool_call_id);
    if (!entry) return void 0;
    this.active.delete(data.tool_call_id);
    const value = parseToolOutput(data.output, data.tool_call_id);
    entry.resolveOutput(value);
    entry.handle.output = value;
    entry.handle.status = "finished";
    entry.handle.error = void 0;
    return entry.handle;
  }
  handleError(data) {
    const entry = this.active.get(data.tool_call_id);
    if (!entry) return void 0;
    this.active.delete(data.tool_call_id);
    entry.rejectOutput(new Error(data.message));
    entry.handle.output = null;
    entry.handle.status = "error";
    entry.handle.error = data.message;
    return entry.handle;
  }
};

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/messages.js
function applyCoreContentDelta(target, delta) {
  if (target.type !== delta.type) return structuredClone(delta);
  switch (delta.type) {
    case "text":
      return {
        ...target,
        ...delta,
        text: `${"text" in target ? target.text : ""}${delta.text}`
      };
    case "reasoning":
      return {
        ...target,
        ...delta,
        reasoning: `${"reasoning" in target ? target.reasoning : ""}${delta.reasoning}`
      };
    case "tool_call_chunk":
    case "server_tool_call_chunk": {
      const merged = {
        ...target,
        ...delta
      };
      if (delta.id == null && "id" in target && target.id != null) merged.id = target.id;
      if (delta.name == null && "name" in target && target.name != null) merged.name = target.name;
      merged.args = `${("args" in target ? target.args : "") ?? ""}${delta.args ?? ""}`;
      return merged;
    }
    default:
      return {
        ...target,
        ...delta
      };
  }
}
function coreContentBlockFromDelta(delta, current) {
  switch (delta.type) {
    case "text-delta":
      return {
        type: "text",
        text: delta.text
      };
    case "reasoning-delta":
      return {
        type: "reasoning",
        reasoning: delta.reasoning
      };
    case "data-delta": {
      const merged = {
        ...current ?? {},
        data: delta.data
      };
      if (delta.encoding) merged.encoding = delta.encoding;
      return merged;
    }
    case "block-delta":
      return delta.fields;
  }
}
function applyCoreEventDelta(current, event) {
  if (event.content) return current ? applyCoreContentDelta(current, event.content) : event.content;
  switch (event.delta.type) {
    case "text-delta":
      if ((current == null ? void 0 : current.type) === "text") return {
        ...current,
        text: `${"text" in current ? current.text : ""}${event.delta.text}`
      };
      return coreContentBlockFromDelta(event.delta, current);
    case "reasoning-delta":
      if ((current == null ? void 0 : current.type) === "reasoning") return {
        ...current,
        reasoning: `${"reasoning" in current ? current.reasoning : ""}${event.delta.reasoning}`
      };
      return coreContentBlockFromDelta(event.delta, current);
    case "data-delta": {
      const merged = { ...current ?? {} };
      merged.data = `${merged.data ?? ""}${event.delta.data}`;
      if (event.delta.encoding) merged.encoding = event.delta.encoding;
      return merged;
    }
    case "block-delta":
      return {
        ...current ?? {},
        ...event.delta.fields
      };
  }
}
function normalizeUsage(usage) {
  if (!usage) return void 0;
  return {
    ...usage,
    input_tokens: usage.input_tokens ?? 0,
    output_tokens: usage.output_tokens ?? 0,
    total_tokens: usage.total_tokens ?? 0
  };
}
var PUSH_TEXT = Symbol("pushText");
var PUSH_REASONING = Symbol("pushReasoning");
var PUSH_EVENT = Symbol("pushEvent");
var UPDATE_CONTEXT = Symbol("updateContext");
var FINISH = Symbol("finish");
var ERROR = Symbol("error");
var _events, _textChunks, _reasoningChunks, _textWaiters, _reasoningWaiters, _textDone, _reasoningDone, _resolveText, _resolveReasoning, _textPromise, _reasoningPromise, _StreamingMessage_instances, usageIterator_fn, assembleMessage_fn, _a2;
var StreamingMessage = (_a2 = class {
  constructor(assembled) {
    __privateAdd(this, _StreamingMessage_instances);
    __publicField(this, "id");
    __publicField(this, "namespace");
    __publicField(this, "node");
    __publicField(this, "metadata");
    __publicField(this, "assembled");
    __privateAdd(this, _events, new MultiCursorBuffer());
    __privateAdd(this, _textChunks, []);
    __privateAdd(this, _reasoningChunks, []);
    __privateAdd(this, _textWaiters, []);
    __privateAdd(this, _reasoningWaiters, []);
    __privateAdd(this, _textDone, false);
    __privateAdd(this, _reasoningDone, false);
    __privateAdd(this, _resolveText);
    __privateAdd(this, _resolveReasoning);
    __privateAdd(this, _textPromise);
    __privateAdd(this, _reasoningPromise);
    this.id = assembled.id;
    this.assembled = assembled;
    this.namespace = assembled.namespace;
    this.node = assembled.node;
    this.metadata = assembled.metadata;
    __privateSet(this, _textPromise, new Promise((r) => {
      __privateSet(this, _resolveText, r);
    }));
    __privateSet(this, _reasoningPromise, new Promise((r) => {
      __privateSet(this, _resolveReasoning, r);
    }));
  }
  get text() {
    const chunks = __privateGet(this, _textChunks);
    const waiters = __privateGet(this, _textWaiters);
    const getDone = () => __privateGet(this, _textDone);
    let cursor = 0;
    return {
      [Symbol.asyncIterator]() {
        return { async next() {
          while (true) {
            if (cursor < chunks.length) return {
              done: false,
              value: chunks[cursor++]
            };
            if (getDone()) return {
              done: true,
              value: void 0
            };
            await new Promise((resolve) => {
              waiters.push(resolve);
            });
          }
        } };
      },
      then: __privateGet(this, _textPromise).then.bind(__privateGet(this, _textPromise)),
      full: { async *[Symbol.asyncIterator]() {
        let accumulated = "";
        for await (const chunk of { [Symbol.asyncIterator]: () => ({ next: async () => {
          while (true) {
            if (cursor < chunks.length) return {
              done: false,
              value: chunks[cursor++]
            };
            if (getDone()) return {
              done: true,
              value: void 0
            };
            await new Promise((resolve) => {
              waiters.push(resolve);
            });
          }
        } }) }) {
          accumulated += chunk;
          yield accumulated;
        }
      } }
    };
  }
  get reasoning() {
    const chunks = __privateGet(this, _reasoningChunks);
    const waiters = __privateGet(this, _reasoningWaiters);
    const getDone = () => __privateGet(this, _reasoningDone);
    let cursor = 0;
    return {
      [Symbol.asyncIterator]() {
        return { async next() {
          while (true) {
            if (cursor < chunks.length) return {
              done: false,
              value: chunks[cursor++]
            };
            if (getDone()) return {
              done: true,
              value: void 0
            };
            await new Promise((resolve) => {
              waiters.push(resolve);
            });
          }
        } };
      },
      then: __privateGet(this, _reasoningPromise).then.bind(__privateGet(this, _reasoningPromise)),
      full: { async *[Symbol.asyncIterator]() {
        let accumulated = "";
        for await (const chunk of { [Symbol.asyncIterator]: () => ({ next: async () => {
          while (true) {
            if (cursor < chunks.length) return {
              done: false,
              value: chunks[cursor++]
            };
            if (getDone()) return {
              done: true,
              value: void 0
            };
            await new Promise((resolve) => {
              waiters.push(resolve);
            });
          }
        } }) }) {
          accumulated += chunk;
          yield accumulated;
        }
      } }
    };
  }
  get usage() {
    const promise = (async () => {
      let usage;
      for await (const snapshot of __privateMethod(this, _StreamingMessage_instances, usageIterator_fn).call(this)) usage = snapshot;
      return usage;
    })();
    return {
      [Symbol.asyncIterator]: () => __privateMethod(this, _StreamingMessage_instances, usageIterator_fn).call(this),
      then: promise.then.bind(promise)
    };
  }
  get toolCalls() {
    const events = __privateGet(this, _events);
    const iterator = async function* () {
      for await (const event of events) if (event.event === "content-block-finish" && event.content.type === "tool_call") yield event.content;
    };
    return {
      [Symbol.asyncIterator]: iterator,
      then: async (onfulfilled, onrejected) => {
        try {
          const calls = [];
          for await (const call of iterator()) calls.push(call);
          return onfulfilled ? onfulfilled(calls) : calls;
        } catch (err) {
          if (onrejected) return onrejected(err);
          throw err;
        }
      },
      full: { async *[Symbol.asyncIterator]() {
        const calls = [];
        for await (const call of iterator()) {
          calls.push(call);
          yield [...calls];
        }
      } }
    };
  }
  get output() {
    return { then: (onf, onr) => __privateMethod(this, _StreamingMessage_instances, assembleMessage_fn).call(this).then(onf, onr) };
  }
  get blocks() {
    return this.assembled.blocks;
  }
  [Symbol.asyncIterator]() {
    return __privateGet(this, _events)[Symbol.asyncIterator]();
  }
  then(onfulfilled, onrejected) {
    return __privateMethod(this, _StreamingMessage_instances, assembleMessage_fn).call(this).then(onfulfilled, onrejected);
  }
  [PUSH_EVENT](event) {
    __privateGet(this, _events).push(event);
  }
  [UPDATE_CONTEXT](event) {
    this.node = event.params.node ?? this.node;
  }
  [PUSH_TEXT](delta) {
    __privateGet(this, _textChunks).push(delta);
    const pending = __privateGet(this, _textWaiters).splice(0, __privateGet(this, _textWaiters).length);
    for (const waiter of pending) waiter();
  }
  [PUSH_REASONING](delta) {
    __privateGet(this, _reasoningChunks).push(delta);
    const pending = __privateGet(this, _reasoningWaiters).splice(0, __privateGet(this, _reasoningWaiters).length);
    for (const waiter of pending) waiter();
  }
  [FINISH]() {
    __privateSet(this, _textDone, true);
    __privateSet(this, _reasoningDone, true);
    __privateGet(this, _resolveText).call(this, __privateGet(this, _textChunks).join(""));
    __privateGet(this, _resolveReasoning).call(this, __privateGet(this, _reasoningChunks).join(""));
    const textPending = __privateGet(this, _textWaiters).splice(0, __privateGet(this, _textWaiters).length);
    for (const waiter of textPending) waiter();
    const reasoningPending = __privateGet(this, _reasoningWaiters).splice(0, __privateGet(this, _reasoningWaiters).length);
    for (const waiter of reasoningPending) waiter();
    __privateGet(this, _events).close();
  }
  [ERROR]() {
    this[FINISH]();
  }
}, _events = new WeakMap(), _textChunks = new WeakMap(), _reasoningChunks = new WeakMap(), _textWaiters = new WeakMap(), _reasoningWaiters = new WeakMap(), _textDone = new WeakMap(), _reasoningDone = new WeakMap(), _resolveText = new WeakMap(), _resolveReasoning = new WeakMap(), _textPromise = new WeakMap(), _reasoningPromise = new WeakMap(), _StreamingMessage_instances = new WeakSet(), usageIterator_fn = async function* () {
  for await (const event of __privateGet(this, _events)) if (event.event === "message-start" && event.usage) yield normalizeUsage(event.usage);
  else if (event.event === "message-finish" && event.usage) yield normalizeUsage(event.usage);
}, assembleMessage_fn = async function() {
  const contentBlocks = [];
  let id;
  let usage;
  let metadata = {};
  let finishReason;
  for await (const event of __privateGet(this, _events)) switch (event.event) {
    case "message-start":
      id = event.id ?? id;
      if (event.usage) usage = normalizeUsage(event.usage);
      break;
    case "content-block-start":
      contentBlocks[event.index] = event.content;
      break;
    case "content-block-delta": {
      const current = contentBlocks[event.index];
      contentBlocks[event.index] = applyCoreEventDelta(current, event);
      break;
    }
    case "content-block-finish":
      contentBlocks[event.index] = event.content;
      break;
    case "message-finish":
      finishReason = event.reason;
      if (event.usage) usage = normalizeUsage(event.usage);
      if (event.responseMetadata) metadata = {
        ...metadata,
        ...event.responseMetadata
      };
      break;
    default:
      break;
  }
  return new AIMessage({
    id,
    content: contentBlocks.filter((block) => block != null),
    usage_metadata: usage,
    response_metadata: {
      ...metadata,
      ...finishReason ? { finish_reason: finishReason } : {},
      output_version: "v1"
    }
  });
}, _a2);
function toStreamingMessageHandle(message) {
  return new Proxy(message, {
    get(target, prop) {
      if (prop === "then") return void 0;
      const value = Reflect.get(target, prop, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
    has(target, prop) {
      if (prop === "then") return false;
      return prop in target;
    }
  });
}
function cloneBlock(block) {
  return structuredClone(block);
}
function blockFromDelta(delta, current) {
  return coreContentBlockFromDelta(delta, current);
}
function applyContentDelta(target, delta) {
  if (target.type !== delta.type) return cloneBlock(delta);
  switch (delta.type) {
    case "text":
      return {
        ...target,
        ...delta,
        text: `${"text" in target ? target.text : ""}${delta.text}`
      };
    case "reasoning":
      return {
        ...target,
        ...delta,
        reasoning: `${"reasoning" in target ? target.reasoning : ""}${delta.reasoning}`
      };
    case "tool_call_chunk":
    case "server_tool_call_chunk": {
      const merged = {
        ...target,
        ...delta
      };
      if (delta.id == null && "id" in target && target.id != null) merged.id = target.id;
      if (delta.name == null && "name" in target && target.name != null) merged.name = target.name;
      merged.args = `${("args" in target ? target.args : "") ?? ""}${delta.args ?? ""}`;
      return merged;
    }
    default:
      return {
        ...target,
        ...delta
      };
  }
}
function messageKeyFor(event) {
  const { namespace, node, data } = event.params;
  const namespaceKey = namespace.join("/");
  const messageId = data.event === "message-start" ? data.id ?? "" : "";
  return `${namespaceKey}::${node ?? ""}::${messageId}`;
}
function toChatModelStreamEvent(event) {
  return event.params.data;
}
var MessageAssembler = class {
  constructor() {
    __publicField(this, "activeMessages", /* @__PURE__ */ new Map());
    __publicField(this, "activeByNamespaceNode", /* @__PURE__ */ new Map());
    __publicField(this, "blockIndexByProtocolIndexAndType", /* @__PURE__ */ new Map());
  }
  /**
  * Applies a single message event and returns the resulting assembly update.
  *
  * @param event - Incoming `messages` event to fold into the assembler state.
  */
  consume(event) {
    const data = event.params.data;
    const namespaceNodeKey = `${event.params.namespace.join("/")}::${event.params.node ?? ""}`;
    if (data.event === "message-start") {
      const key = messageKeyFor(event);
      this.activeByNamespaceNode.set(namespaceNodeKey, key);
      const message2 = {
        id: data.id,
        namespace: [...event.params.namespace],
        node: event.params.node,
        metadata: data.metadata,
        blocks: []
      };
      this.activeMessages.set(key, message2);
      return {
        kind: "message-start",
        key,
        message: message2,
        event
      };
    }
    const activeKey = this.activeByNamespaceNode.get(namespaceNodeKey);
    if (!activeKey) {
      const syntheticKey = `${namespaceNodeKey}::`;
      this.activeByNamespaceNode.set(namespaceNodeKey, syntheticKey);
      const synthetic = {
        id: data.id,
        namespace: [...event.params.namespace],
        node: event.params.node,
        blocks: []
      };
      this.activeMessages.set(syntheticKey, synthetic);
      return this.consume(event);
    }
    const message = this.activeMessages.get(activeKey);
    if (!message) throw new Error(`No active message state found for key ${activeKey}`);
    if (data.event === "usage") {
      message.usage = data.usage;
      return {
        kind: "usage",
        key: activeKey,
        message,
        event
      };
    }
    switch (data.event) {
      case "content-block-start":
        message.blocks[data.index] = cloneBlock(data.content);
        this.blockIndexByProtocolIndexAndType.set(blockIndexKey(activeKey, data.index, data.content.type), data.index);
        return {
          kind: "content-block-start",
          key: activeKey,
          message,
          index: data.index,
          block: data.content,
          event
        };
      case "content-block-delta": {
        const deltaEvent = data;
        const deltaBlock = deltaEvent.content ?? (deltaEvent.delta != null ? blockFromDelta(deltaEvent.delta, message.blocks[data.index]) : void 0);
        if (deltaBlock == null) throw new Error("Received content-block-delta without content");
        const targetIndex = this.resolveBlockIndex(activeKey, message.blocks, data.index, deltaBlock.type);
        const current = message.blocks[targetIndex];
        message.blocks[targetIndex] = deltaEvent.content != null ? current == null ? cloneBlock(deltaEvent.content) : applyContentDelta(current, deltaEvent.content) : applyCoreEventDelta(current, data);
        return {
          kind: "content-block-delta",
          key: activeKey,
          message,
          index: targetIndex,
          block: deltaBlock,
          event
        };
      }
      case "content-block-finish": {
        const targetIndex = this.resolveFinishBlockIndex(activeKey, data.index, data.content.type);
        message.blocks[targetIndex] = cloneBlock(data.content);
        return {
          kind: "content-block-finish",
          key: activeKey,
          message,
          index: targetIndex,
          block: data.content,
          event
        };
      }
      case "message-finish":
        message.usage = data.usage;
        message.finishMetadata = data.responseMetadata;
        this.activeMessages.delete(activeKey);
        this.activeByNamespaceNode.delete(namespaceNodeKey);
        this.clearBlockIndexAliases(activeKey);
        return {
          kind: "message-finish",
          key: activeKey,
          message: structuredClone(message),
          event
        };
      case "error":
        message.error = {
          message: data.message,
          code: data.code
        };
        this.activeMessages.delete(activeKey);
        this.activeByNamespaceNode.delete(namespaceNodeKey);
        this.clearBlockIndexAliases(activeKey);
        return {
          kind: "message-error",
          key: activeKey,
          message: structuredClone(message),
          event
        };
    }
  }
  resolveBlockIndex(activeKey, blocks, protocolIndex, blockType) {
    const current = blocks[protocolIndex];
    if (current == null || current.type === blockType || areCompatibleBlockTypes(current.type, blockType)) {
      this.blockIndexByProtocolIndexAndType.set(blockIndexKey(activeKey, protocolIndex, blockType), protocolIndex);
      return protocolIndex;
    }
    const key = blockIndexKey(activeKey, protocolIndex, blockType);
    const existing = this.blockIndexByProtocolIndexAndType.get(key);
    if (existing != null) return existing;
    const nextIndex = blocks.length;
    this.blockIndexByProtocolIndexAndType.set(key, nextIndex);
    return nextIndex;
  }
  resolveFinishBlockIndex(activeKey, protocolIndex, blockType) {
    const key = blockIndexKey(activeKey, protocolIndex, blockType);
    const existing = this.blockIndexByProtocolIndexAndType.get(key);
    if (existing != null) return existing;
    this.blockIndexByProtocolIndexAndType.set(key, protocolIndex);
    return protocolIndex;
  }
  clearBlockIndexAliases(activeKey) {
    const prefix = `${activeKey}::`;
    for (const key of this.blockIndexByProtocolIndexAndType.keys()) if (key.startsWith(prefix)) this.blockIndexByProtocolIndexAndType.delete(key);
  }
};
function blockIndexKey(activeKey, protocolIndex, blockType) {
  return `${activeKey}::${protocolIndex}::${blockType}`;
}
function areCompatibleBlockTypes(currentType, nextType) {
  const toolCallTypes = /* @__PURE__ */ new Set([
    "tool_call",
    "tool_call_chunk",
    "tool_use",
    "input_json_delta"
  ]);
  const serverToolCallTypes = /* @__PURE__ */ new Set(["server_tool_call", "server_tool_call_chunk"]);
  return toolCallTypes.has(currentType) && toolCallTypes.has(nextType) || serverToolCallTypes.has(currentType) && serverToolCallTypes.has(nextType);
}
var _assembler, _activeStreaming, _a3;
var StreamingMessageAssembler = (_a3 = class {
  constructor() {
    __privateAdd(this, _assembler, new MessageAssembler());
    __privateAdd(this, _activeStreaming, /* @__PURE__ */ new Map());
  }
  /**
  * Folds a single event and returns a new {@link StreamingMessage}
  * when a `message-start` is seen, or `undefined` for continuation
  * events (deltas, finish, error).
  */
  consume(event) {
    const update = __privateGet(this, _assembler).consume(event);
    if (update == null) return void 0;
    switch (update.kind) {
      case "message-start": {
        const streaming = new StreamingMessage(update.message);
        streaming[UPDATE_CONTEXT](update.event);
        streaming[PUSH_EVENT](toChatModelStreamEvent(update.event));
        __privateGet(this, _activeStreaming).set(update.key, streaming);
        return streaming;
      }
      case "content-block-start": {
        const streaming = __privateGet(this, _activeStreaming).get(update.key);
        if (streaming) {
          streaming[UPDATE_CONTEXT](update.event);
          streaming[PUSH_EVENT](toChatModelStreamEvent(update.event));
        }
        if (streaming && update.block.type === "text" && "text" in update.block && update.block.text) streaming[PUSH_TEXT](update.block.text);
        if (streaming && update.block.type === "reasoning" && "reasoning" in update.block && update.block.reasoning) streaming[PUSH_REASONING](update.block.reasoning);
        return;
      }
      case "content-block-delta": {
        const streaming = __privateGet(this, _activeStreaming).get(update.key);
        if (!streaming) return void 0;
        streaming[UPDATE_CONTEXT](update.event);
        streaming[PUSH_EVENT](toChatModelStreamEvent(update.event));
        if (update.block.type === "text" && "text" in update.block) streaming[PUSH_TEXT](update.block.text);
        if (update.block.type === "reasoning" && "reasoning" in update.block) streaming[PUSH_REASONING](update.block.reasoning);
        return;
      }
      case "content-block-finish": {
        const streaming = __privateGet(this, _activeStreaming).get(update.key);
        if (streaming) {
          streaming[UPDATE_CONTEXT](update.event);
          streaming[PUSH_EVENT](toChatModelStreamEvent(update.event));
        }
        return;
      }
      case "usage": {
        const streaming = __privateGet(this, _activeStreaming).get(update.key);
        if (streaming) {
          streaming[UPDATE_CONTEXT](update.event);
          streaming[PUSH_EVENT](toChatModelStreamEvent(update.event));
        }
        return;
      }
      case "message-finish": {
        const streaming = __privateGet(this, _activeStreaming).get(update.key);
        if (streaming) {
          streaming[UPDATE_CONTEXT](update.event);
          streaming[PUSH_EVENT](toChatModelStreamEvent(update.event));
          streaming[FINISH]();
          __privateGet(this, _activeStreaming).delete(update.key);
        }
        return;
      }
      case "message-error": {
        const streaming = __privateGet(this, _activeStreaming).get(update.key);
        if (streaming) {
          streaming[UPDATE_CONTEXT](update.event);
          streaming[PUSH_EVENT](toChatModelStreamEvent(update.event));
          streaming[ERROR]();
          __privateGet(this, _activeStreaming).delete(update.key);
        }
        return;
      }
    }
  }
}, _assembler = new WeakMap(), _activeStreaming = new WeakMap(), _a3);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/media.js
var MEDIA_BLOCK_TYPES = /* @__PURE__ */ new Set([
  "audio",
  "image",
  "video",
  "file"
]);
var MediaAssemblyError = class extends Error {
  constructor(kind, messageId, partialBytes, message, options) {
    super(message ?? `media ${kind} for message ${messageId}`);
    __publicField(this, "kind");
    __publicField(this, "messageId");
    __publicField(this, "partialBytes");
    __publicField(this, "cause");
    this.name = "MediaAssemblyError";
    this.kind = kind;
    this.messageId = messageId;
    this.partialBytes = partialBytes;
    this.cause = options == null ? void 0 : options.cause;
  }
};
function base64ToBytes(b64) {
  const binary = atob(b64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
function concatBytes(parts, totalLength) {
  const out = new Uint8Array(totalLength);
  let offset = 0;
  for (const part of parts) {
    out.set(part, offset);
    offset += part.byteLength;
  }
  return out;
}
var _parts, _totalBytes, _partialSnapshot, _stream, _streamController, _blobResolve, _blobReject, _blobPromise, _transcriptParts, _transcriptResolve, _transcriptReject, _transcriptPromise, _cachedObjectURL, _urlSourced, _urlFetchPromise, _lastIndex, _finished, _settled, _fetchImpl, _MediaHandleImpl_instances, absorbAudio_fn, absorbImage_fn, absorbVideo_fn, absorbFile_fn, buildInlineStream_fn, buildUrlStream_fn, startUrlFetch_fn, fetchUrlSourced_fn, _a4;
var MediaHandleImpl = (_a4 = class {
  constructor(options) {
    __privateAdd(this, _MediaHandleImpl_instances);
    __publicField(this, "type");
    __publicField(this, "messageId");
    __publicField(this, "namespace");
    __publicField(this, "node");
    __publicField(this, "id");
    __publicField(this, "mimeType");
    __publicField(this, "url");
    __publicField(this, "width");
    __publicField(this, "height");
    __publicField(this, "filename");
    __publicField(this, "monotonic", true);
    __publicField(this, "error");
    __privateAdd(this, _parts, []);
    __privateAdd(this, _totalBytes, 0);
    __privateAdd(this, _partialSnapshot, new Uint8Array(0));
    __privateAdd(this, _stream);
    __privateAdd(this, _streamController);
    __privateAdd(this, _blobResolve);
    __privateAdd(this, _blobReject);
    __privateAdd(this, _blobPromise);
    __privateAdd(this, _transcriptParts, []);
    __privateAdd(this, _transcriptResolve);
    __privateAdd(this, _transcriptReject);
    __privateAdd(this, _transcriptPromise);
    __privateAdd(this, _cachedObjectURL);
    __privateAdd(this, _urlSourced, false);
    __privateAdd(this, _urlFetchPromise);
    __privateAdd(this, _lastIndex, -1);
    __privateAdd(this, _finished, false);
    __privateAdd(this, _settled, false);
    __privateAdd(this, _fetchImpl);
    this.type = options.type;
    this.messageId = options.messageId;
    this.namespace = options.namespace;
    this.node = options.node;
    this.id = options.id;
    this.mimeType = options.mimeType;
    this.url = options.url;
    __privateSet(this, _fetchImpl, options.fetch);
    __privateSet(this, _blobPromise, new Promise((resolve, reject) => {
      __privateSet(this, _blobResolve, resolve);
      __privateSet(this, _blobReject, reject);
    }));
    __privateGet(this, _blobPromise).catch(() => void 0);
    __privateSet(this, _transcriptPromise, new Promise((resolve, reject) => {
      __privateSet(this, _transcriptResolve, resolve);
      __privateSet(this, _transcriptReject, reject);
    }));
    __privateGet(this, _transcriptPromise).catch(() => void 0);
  }
  /** Track a block index for the monotonic-ordering diagnostic. */
  observeIndex(index) {
    if (index !== __privateGet(this, _lastIndex) + 1 && index !== __privateGet(this, _lastIndex)) this.monotonic = false;
    if (index > __privateGet(this, _lastIndex)) __privateSet(this, _lastIndex, index);
  }
  /** Absorb `mime_type` / per-type extras carried on an incoming block. */
  absorbBlock(block) {
    if (__privateGet(this, _urlSourced)) return;
    if (block.type === "audio") __privateMethod(this, _MediaHandleImpl_instances, absorbAudio_fn).call(this, block);
    else if (block.type === "image") __privateMethod(this, _MediaHandleImpl_instances, absorbImage_fn).call(this, block);
    else if (block.type === "video") __privateMethod(this, _MediaHandleImpl_instances, absorbVideo_fn).call(this, block);
    else if (block.type === "file") __privateMethod(this, _MediaHandleImpl_instances, absorbFile_fn).call(this, block);
  }
  /** Record that the originating block arrived with `url` not `data`. */
  enterUrlMode(url) {
    __privateSet(this, _urlSourced, true);
    this.url = url;
  }
  /** Push a fresh chunk of bytes into the handle. */
  pushBytes(bytes) {
    if (__privateGet(this, _finished) || __privateGet(this, _settled)) return;
    if (bytes.byteLength === 0) return;
    __privateGet(this, _parts).push(bytes);
    __privateSet(this, _totalBytes, __privateGet(this, _totalBytes) + bytes.byteLength);
    __privateSet(this, _partialSnapshot, concatBytes(__privateGet(this, _parts), __privateGet(this, _totalBytes)));
    if (__privateGet(this, _streamController) != null) try {
      __privateGet(this, _streamController).enqueue(bytes);
    } catch {
    }
  }
  /** Append a transcript fragment from an audio block. */
  pushTranscript(fragment) {
    if (this.type !== "audio") return;
    if (__privateGet(this, _finished) || __privateGet(this, _settled)) return;
    if (fragment.length === 0) return;
    __privateGet(this, _transcriptParts).push(fragment);
  }
  /** Called on `message-finish`. Settles blob/transcript/stream. */
  finish() {
    var _a10;
    if (__privateGet(this, _finished) || __privateGet(this, _settled)) return;
    __privateSet(this, _finished, true);
    __privateSet(this, _settled, true);
    const blob = new Blob([__privateGet(this, _partialSnapshot)], { type: this.mimeType ?? "" });
    __privateGet(this, _blobResolve).call(this, blob);
    __privateGet(this, _transcriptResolve).call(this, __privateGet(this, _transcriptParts).length === 0 ? void 0 : __privateGet(this, _transcriptParts).join(""));
    try {
      (_a10 = __privateGet(this, _streamController)) == null ? void 0 : _a10.close();
    } catch {
    }
  }
  /** Propagate an error through blob/transcript/stream. */
  fail(kind, reason, cause) {
    var _a10;
    if (__privateGet(this, _settled)) return this.error ?? new MediaAssemblyError(kind, this.messageId, __privateGet(this, _partialSnapshot), reason, { cause });
    __privateSet(this, _settled, true);
    const err = new MediaAssemblyError(kind, this.messageId, __privateGet(this, _partialSnapshot), reason, { cause });
    this.error = err;
    __privateGet(this, _blobReject).call(this, err);
    __privateGet(this, _transcriptReject).call(this, err);
    try {
      (_a10 = __privateGet(this, _streamController)) == null ? void 0 : _a10.error(err);
    } catch {
    }
    return err;
  }
  get partialBytes() {
    return __privateGet(this, _partialSnapshot);
  }
  get blob() {
    if (__privateGet(this, _urlSourced)) return __privateMethod(this, _MediaHandleImpl_instances, fetchUrlSourced_fn).call(this).then((bytes) => new Blob([bytes], { type: this.mimeType ?? "" }));
    return __privateGet(this, _blobPromise);
  }
  get transcript() {
    return __privateGet(this, _transcriptPromise);
  }
  get objectURL() {
    if (__privateGet(this, _cachedObjectURL) != null) {
      const cached = __privateGet(this, _cachedObjectURL);
      return Promise.resolve(cached);
    }
    return this.blob.then((blob) => {
      if (__privateGet(this, _cachedObjectURL) != null) return __privateGet(this, _cachedObjectURL);
      const url = URL.createObjectURL(blob);
      __privateSet(this, _cachedObjectURL, url);
      return url;
    });
  }
  revoke() {
    const url = __privateGet(this, _cachedObjectURL);
    if (url == null) return;
    __privateSet(this, _cachedObjectURL, void 0);
    try {
      URL.revokeObjectURL(url);
    } catch {
    }
  }
  get stream() {
    if (__privateGet(this, _stream) != null) return __privateGet(this, _stream);
    if (__privateGet(this, _urlSourced)) return __privateMethod(this, _MediaHandleImpl_instances, buildUrlStream_fn).call(this);
    return __privateMethod(this, _MediaHandleImpl_instances, buildInlineStream_fn).call(this);
  }
}, _parts = new WeakMap(), _totalBytes = new WeakMap(), _partialSnapshot = new WeakMap(), _stream = new WeakMap(), _streamController = new WeakMap(), _blobResolve = new WeakMap(), _blobReject = new WeakMap(), _blobPromise = new WeakMap(), _transcriptParts = new WeakMap(), _transcriptResolve = new WeakMap(), _transcriptReject = new WeakMap(), _transcriptPromise = new WeakMap(), _cachedObjectURL = new WeakMap(), _urlSourced = new WeakMap(), _urlFetchPromise = new WeakMap(), _lastIndex = new WeakMap(), _finished = new WeakMap(), _settled = new WeakMap(), _fetchImpl = new WeakMap(), _MediaHandleImpl_instances = new WeakSet(), absorbAudio_fn = function(block) {
  const mimeType = block.mime_type ?? block.mimeType;
  if (this.mimeType == null && mimeType != null) this.mimeType = mimeType;
  if (block.transcript != null && block.transcript.length > 0) this.pushTranscript(block.transcript);
}, absorbImage_fn = function(block) {
  const mimeType = block.mime_type ?? block.mimeType;
  if (this.mimeType == null && mimeType != null) this.mimeType = mimeType;
  if (this.width == null && block.width != null) this.width = block.width;
  if (this.height == null && block.height != null) this.height = block.height;
}, absorbVideo_fn = function(block) {
  const mimeType = block.mime_type ?? block.mimeType;
  if (this.mimeType == null && mimeType != null) this.mimeType = mimeType;
}, absorbFile_fn = function(block) {
  const mimeType = block.mime_type ?? block.mimeType;
  if (this.mimeType == null && mimeType != null) this.mimeType = mimeType;
  if (this.filename == null && block.filename != null) this.filename = block.filename;
}, buildInlineStream_fn = function() {
  const seed = __privateGet(this, _partialSnapshot);
  const alreadyFinished = __privateGet(this, _finished);
  const alreadyErrored = this.error;
  __privateSet(this, _stream, new ReadableStream({
    start: (controller) => {
      __privateSet(this, _streamController, controller);
      if (seed.byteLength > 0) controller.enqueue(seed);
      if (alreadyErrored != null) {
        controller.error(alreadyErrored);
        return;
      }
      if (alreadyFinished) controller.close();
    },
    cancel: () => {
      __privateSet(this, _streamController, void 0);
    }
  }));
  return __privateGet(this, _stream);
}, buildUrlStream_fn = function() {
  const urlSourceFetch = __privateMethod(this, _MediaHandleImpl_instances, startUrlFetch_fn).call(this);
  __privateSet(this, _stream, new ReadableStream({
    start: async (controller) => {
      try {
        const response = await urlSourceFetch;
        if (response.body == null) {
          const bytes = new Uint8Array(await response.arrayBuffer());
          if (bytes.byteLength > 0) controller.enqueue(bytes);
          controller.close();
          return;
        }
        const reader = response.body.getReader();
        while (true) {
          const { done, value } = await reader.read();
          if (done) break;
          if (value != null) controller.enqueue(value);
        }
        controller.close();
      } catch (err) {
        controller.error(this.fail("fetch-failed", err == null ? void 0 : err.message, err));
      }
    },
    cancel: () => {
      __privateSet(this, _streamController, void 0);
    }
  }));
  return __privateGet(this, _stream);
}, /** Memoised fetch for URL-sourced blocks — returns one `Response`. */
startUrlFetch_fn = function() {
  const url = this.url;
  return __privateGet(this, _fetchImpl).call(this, url).then((response) => {
    if (!response.ok) throw new Error(`fetch(${url}) failed: ${response.status} ${response.statusText}`);
    return response;
  });
}, /** Fetch + buffer for URL-sourced `blob` access. Memoised. */
fetchUrlSourced_fn = function() {
  if (__privateGet(this, _urlFetchPromise) != null) return __privateGet(this, _urlFetchPromise);
  __privateSet(this, _urlFetchPromise, (async () => {
    try {
      const response = await __privateMethod(this, _MediaHandleImpl_instances, startUrlFetch_fn).call(this);
      const bytes = new Uint8Array(await response.arrayBuffer());
      __privateGet(this, _parts).length = 0;
      __privateGet(this, _parts).push(bytes);
      __privateSet(this, _totalBytes, bytes.byteLength);
      __privateSet(this, _partialSnapshot, bytes);
      __privateSet(this, _finished, true);
      __privateSet(this, _settled, true);
      return bytes;
    } catch (err) {
      throw this.fail("fetch-failed", err == null ? void 0 : err.message, err);
    }
  })());
  return __privateGet(this, _urlFetchPromise);
}, _a4);
var _callbacks, _fetch, _active, _activeByNamespaceNode, _syntheticCounter, _MediaAssembler_instances, consumeMediaBlock_fn, flushSlot_fn, emit_fn, _a5;
var MediaAssembler = (_a5 = class {
  constructor(options = {}) {
    __privateAdd(this, _MediaAssembler_instances);
    __privateAdd(this, _callbacks);
    __privateAdd(this, _fetch);
    __privateAdd(this, _active, /* @__PURE__ */ new Map());
    __privateAdd(this, _activeByNamespaceNode, /* @__PURE__ */ new Map());
    __privateAdd(this, _syntheticCounter, 0);
    __privateSet(this, _callbacks, options);
    if (options.fetch != null) __privateSet(this, _fetch, options.fetch);
    else if (typeof fetch === "function") __privateSet(this, _fetch, fetch);
    else __privateSet(this, _fetch, () => {
      throw new Error("MediaAssembler: no fetch implementation available. Pass `fetch` in options.");
    });
  }
  /**
  * Fold a single `messages` event. Non-media blocks and
  * informational events (e.g. `content-block-finish`) are no-ops.
  */
  consume(event) {
    const data = event.params.data;
    const namespace = event.params.namespace;
    const node = event.params.node;
    const nsNodeKey = `${namespace.join("/")}::${node ?? ""}`;
    if (data.event === "message-start") {
      __privateMethod(this, _MediaAssembler_instances, flushSlot_fn).call(this, nsNodeKey, "finish");
      __privateGet(this, _activeByNamespaceNode).set(nsNodeKey, {
        messageId: data.id ?? "",
        keys: /* @__PURE__ */ new Set(),
        indexKeys: /* @__PURE__ */ new Map()
      });
      return;
    }
    if (data.event === "message-finish") {
      __privateMethod(this, _MediaAssembler_instances, flushSlot_fn).call(this, nsNodeKey, "finish");
      __privateGet(this, _activeByNamespaceNode).delete(nsNodeKey);
      return;
    }
    if (data.event === "error") {
      __privateMethod(this, _MediaAssembler_instances, flushSlot_fn).call(this, nsNodeKey, "error", data.message);
      __privateGet(this, _activeByNamespaceNode).delete(nsNodeKey);
      return;
    }
    if (data.event !== "content-block-start" && data.event !== "content-block-delta" && data.event !== "content-block-finish") return;
    const block = data.content;
    const blockIndex = data.index ?? 0;
    let active = __privateGet(this, _activeByNamespaceNode).get(nsNodeKey);
    if (active == null) {
      active = {
        messageId: `__synthetic_${++__privateWrapper(this, _syntheticCounter)._}`,
        keys: /* @__PURE__ */ new Set(),
        indexKeys: /* @__PURE__ */ new Map()
      };
      __privateGet(this, _activeByNamespaceNode).set(nsNodeKey, active);
    }
    if (block == null && data.event === "content-block-delta") {
      const delta = data.delta;
      const deltaKey = active.indexKeys.get(blockIndex);
      const deltaHandle = deltaKey != null ? __privateGet(this, _active).get(deltaKey) : void 0;
      if (delta == null || typeof delta !== "object") return;
      const record = delta;
      if (deltaHandle == null) {
        if (record.type !== "block-delta" || record.fields == null || typeof record.fields !== "object") return;
        const fields = record.fields;
        if (!MEDIA_BLOCK_TYPES.has(fields.type)) return;
        __privateMethod(this, _MediaAssembler_instances, consumeMediaBlock_fn).call(this, {
          active,
          block: fields,
          blockIndex,
          dataEvent: data.event,
          namespace,
          node,
          terminal: false,
          createIfMissing: true
        });
        return;
      }
      deltaHandle.observeIndex(blockIndex);
      if (record.type === "data-delta" && typeof record.data === "string") {
        try {
          deltaHandle.pushBytes(base64ToBytes(record.data));
        } catch (err) {
          deltaHandle.fail("message-error", "invalid base64 on delta", err);
        }
        return;
      }
      if (record.type === "block-delta" && record.fields != null && typeof record.fields === "object") {
        const fields = record.fields;
        deltaHandle.absorbBlock(fields);
        if (!deltaHandle.error && fields.data != null) try {
          deltaHandle.pushBytes(base64ToBytes(fields.data));
        } catch (err) {
          deltaHandle.fail("message-error", "invalid base64 on delta", err);
        }
      }
      return;
    }
    if (block == null) return;
    const blockType = block.type;
    if (!MEDIA_BLOCK_TYPES.has(blockType)) return;
    __privateMethod(this, _MediaAssembler_instances, consumeMediaBlock_fn).call(this, {
      active,
      block,
      blockIndex,
      dataEvent: data.event,
      namespace,
      node,
      terminal: data.event === "content-block-finish",
      createIfMissing: data.event === "content-block-start" || data.event === "content-block-finish"
    });
  }
  /**
  * Abort all outstanding handles with a `stream-closed` error.
  * Called when the upstream event source terminates before the
  * messages it was assembling had a chance to finish.
  */
  close() {
    for (const handle of __privateGet(this, _active).values()) handle.fail("stream-closed", "upstream event stream closed");
    __privateGet(this, _active).clear();
    __privateGet(this, _activeByNamespaceNode).clear();
  }
}, _callbacks = new WeakMap(), _fetch = new WeakMap(), _active = new WeakMap(), _activeByNamespaceNode = new WeakMap(), _syntheticCounter = new WeakMap(), _MediaAssembler_instances = new WeakSet(), consumeMediaBlock_fn = function({ active, block, blockIndex, dataEvent, namespace, node, terminal, createIfMissing }) {
  const blockType = block.type;
  if (!MEDIA_BLOCK_TYPES.has(blockType)) return;
  const mediaType = blockType;
  const key = `${active.messageId}::${mediaType}::${blockIndex}`;
  let handle = __privateGet(this, _active).get(key);
  const isStart = dataEvent === "content-block-start";
  if (handle == null) {
    const isTerminalBlock = terminal;
    if (!isStart && !isTerminalBlock && !createIfMissing) return;
    const mediaBlock2 = block;
    handle = new MediaHandleImpl({
      type: mediaType,
      messageId: active.messageId,
      namespace: [...namespace],
      node,
      id: mediaBlock2.id,
      mimeType: mediaBlock2.mime_type ?? mediaBlock2.mimeType,
      url: mediaBlock2.url != null && mediaBlock2.data == null ? mediaBlock2.url : void 0,
      fetch: __privateGet(this, _fetch)
    });
    if (mediaBlock2.url != null && mediaBlock2.data == null) handle.enterUrlMode(mediaBlock2.url);
    handle.observeIndex(blockIndex);
    handle.absorbBlock(block);
    if (mediaBlock2.data != null) try {
      handle.pushBytes(base64ToBytes(mediaBlock2.data));
    } catch (err) {
      handle.fail("message-error", "invalid base64 on initial block", err);
    }
    __privateGet(this, _active).set(key, handle);
    active.keys.add(key);
    active.indexKeys.set(blockIndex, key);
    __privateMethod(this, _MediaAssembler_instances, emit_fn).call(this, handle);
    if (isTerminalBlock) {
      handle.finish();
      __privateGet(this, _active).delete(key);
      active.keys.delete(key);
      active.indexKeys.delete(blockIndex);
    }
    return;
  }
  if (terminal) return;
  const mediaBlock = block;
  handle.observeIndex(blockIndex);
  handle.absorbBlock(block);
  if (!handle.error && mediaBlock.data != null) try {
    handle.pushBytes(base64ToBytes(mediaBlock.data));
  } catch (err) {
    handle.fail("message-error", "invalid base64 on delta", err);
  }
}, /**
* Finish or fail every media handle currently active under the
* given `(namespace, node)` slot and clear its bookkeeping. Called
* on `message-finish`, `error`, and when a new `message-start`
* rebinds a still-open slot.
*/
flushSlot_fn = function(nsNodeKey, mode, errorMessage) {
  const active = __privateGet(this, _activeByNamespaceNode).get(nsNodeKey);
  if (active == null) return;
  for (const key of active.keys) {
    const handle = __privateGet(this, _active).get(key);
    if (handle != null) if (mode === "finish") handle.finish();
    else handle.fail("message-error", errorMessage);
    __privateGet(this, _active).delete(key);
  }
  active.keys.clear();
  active.indexKeys.clear();
}, emit_fn = function(handle) {
  var _a10, _b, _c, _d, _e, _f, _g, _h, _i, _j;
  switch (handle.type) {
    case "audio":
      (_b = (_a10 = __privateGet(this, _callbacks)).onAudio) == null ? void 0 : _b.call(_a10, handle);
      break;
    case "image":
      (_d = (_c = __privateGet(this, _callbacks)).onImage) == null ? void 0 : _d.call(_c, handle);
      break;
    case "video":
      (_f = (_e = __privateGet(this, _callbacks)).onVideo) == null ? void 0 : _f.call(_e, handle);
      break;
    case "file":
      (_h = (_g = __privateGet(this, _callbacks)).onFile) == null ? void 0 : _h.call(_g, handle);
      break;
  }
  (_j = (_i = __privateGet(this, _callbacks)).onMedia) == null ? void 0 : _j.call(_i, handle);
}, _a5);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/handles/subgraphs.js
var _session, _messagesIterable, _valuesProjection, _toolCallsIterable, _subgraphsIterable, _subagentsIterable, _outputPromise, _mediaDispatcherStarted, _audioBuffer, _imagesBuffer, _videoBuffer, _filesBuffer, _SubgraphHandle_instances, ensureMediaDispatcher_fn, startProjection_fn, _a6;
var SubgraphHandle = (_a6 = class {
  constructor(name, index, namespace, session, options) {
    __privateAdd(this, _SubgraphHandle_instances);
    __publicField(this, "name");
    __publicField(this, "index");
    __publicField(this, "namespace");
    /**
    * Non-empty when upstream attached a `cause` to this subgraph's
    * `lifecycle.started` event. Population is product-specific and
    * performed by stream transformers on the runtime side (e.g.
    * deepagents' `SubagentTransformer` emits
    * `{ type: "toolCall", tool_call_id }`). Generic clients should
    * treat `cause.type` as an open enum — the protocol allows future
    * variants (`send`, `edge`, ...) to be forwarded verbatim without
    * a SDK bump.
    */
    __publicField(this, "cause");
    __publicField(this, "graphName");
    /**
    * Raw `tool-started` event that triggered this subgraph, when
    * `cause.type === "toolCall"` and the matching event has been
    * observed on the `tools` channel.
    */
    __publicField(this, "toolStartedEvent");
    __privateAdd(this, _session);
    __privateAdd(this, _messagesIterable);
    __privateAdd(this, _valuesProjection);
    __privateAdd(this, _toolCallsIterable);
    __privateAdd(this, _subgraphsIterable);
    __privateAdd(this, _subagentsIterable);
    __privateAdd(this, _outputPromise);
    __privateAdd(this, _mediaDispatcherStarted, false);
    __privateAdd(this, _audioBuffer);
    __privateAdd(this, _imagesBuffer);
    __privateAdd(this, _videoBuffer);
    __privateAdd(this, _filesBuffer);
    this.name = name;
    this.index = index;
    this.namespace = namespace;
    this.cause = options == null ? void 0 : options.cause;
    this.graphName = options == null ? void 0 : options.graphName;
    this.toolStartedEvent = options == null ? void 0 : options.toolStartedEvent;
    __privateSet(this, _session, session);
  }
  get messages() {
    if (__privateGet(this, _messagesIterable)) return __privateGet(this, _messagesIterable);
    const buffer = new MultiCursorBuffer();
    __privateSet(this, _messagesIterable, buffer);
    const assembler = new StreamingMessageAssembler();
    __privateMethod(this, _SubgraphHandle_instances, startProjection_fn).call(this, ["messages"], (event) => {
      if (event.method !== "messages") return;
      const msg = assembler.consume(event);
      if (msg) buffer.push(msg);
    }, () => buffer.close());
    return buffer;
  }
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
    __privateMethod(this, _SubgraphHandle_instances, startProjection_fn).call(this, ["values"], (event) => {
      if (event.method !== "values") return;
      const data = event.params.data;
      lastValue = data;
      buffer.push(data);
    }, () => {
      resolveOutput(lastValue);
      buffer.close();
    });
    return projection;
  }
  get toolCalls() {
    if (__privateGet(this, _toolCallsIterable)) return __privateGet(this, _toolCallsIterable);
    const buffer = new MultiCursorBuffer();
    __privateSet(this, _toolCallsIterable, buffer);
    const assembler = new ToolCallAssembler();
    __privateMethod(this, _SubgraphHandle_instances, startProjection_fn).call(this, ["tools"], (event) => {
      if (event.method !== "tools") return;
      const tc = assembler.consume(event);
      if (tc) buffer.push(toClientAssembledToolCall(tc));
    }, () => buffer.close());
    return buffer;
  }
  get subgraphs() {
    if (__privateGet(this, _subgraphsIterable)) return __privateGet(this, _subgraphsIterable);
    const buffer = new MultiCursorBuffer();
    __privateSet(this, _subgraphsIterable, buffer);
    (async () => {
      const discovery = new SubgraphDiscoveryHandle(await __privateGet(this, _session).subscribe({
        channels: ["lifecycle", "tools"],
        namespaces: [this.namespace]
      }), __privateGet(this, _session), this.namespace);
      for await (const sub of discovery) buffer.push(sub);
      buffer.close();
    })();
    return buffer;
  }
  get subagents() {
    if (__privateGet(this, _subagentsIterable)) return __privateGet(this, _subagentsIterable);
    const buffer = new MultiCursorBuffer();
    __privateSet(this, _subagentsIterable, buffer);
    (async () => {
      const rawHandle = await __privateGet(this, _session).subscribe({
        channels: ["tools", "lifecycle"],
        namespaces: [this.namespace]
      });
      const { SubagentDiscoveryHandle: Discovery } = await import("./subagents-6BCHSGDC.js");
      const discovery = new Discovery(rawHandle, __privateGet(this, _session));
      for await (const sub of discovery) buffer.push(sub);
      buffer.close();
    })();
    return buffer;
  }
  get audio() {
    __privateMethod(this, _SubgraphHandle_instances, ensureMediaDispatcher_fn).call(this);
    return __privateGet(this, _audioBuffer);
  }
  get images() {
    __privateMethod(this, _SubgraphHandle_instances, ensureMediaDispatcher_fn).call(this);
    return __privateGet(this, _imagesBuffer);
  }
  get video() {
    __privateMethod(this, _SubgraphHandle_instances, ensureMediaDispatcher_fn).call(this);
    return __privateGet(this, _videoBuffer);
  }
  get files() {
    __privateMethod(this, _SubgraphHandle_instances, ensureMediaDispatcher_fn).call(this);
    return __privateGet(this, _filesBuffer);
  }
  get output() {
    this.values;
    return __privateGet(this, _outputPromise);
  }
  subscribe(paramsOrChannels, options = {}) {
    if (typeof paramsOrChannels === "object" && !Array.isArray(paramsOrChannels) && "channels" in paramsOrChannels) return __privateGet(this, _session).subscribe({
      ...paramsOrChannels,
      namespaces: paramsOrChannels.namespaces ?? [this.namespace]
    });
    return __privateGet(this, _session).subscribe(paramsOrChannels, {
      ...options,
      namespaces: options.namespaces ?? [this.namespace]
    });
  }
}, _session = new WeakMap(), _messagesIterable = new WeakMap(), _valuesProjection = new WeakMap(), _toolCallsIterable = new WeakMap(), _subgraphsIterable = new WeakMap(), _subagentsIterable = new WeakMap(), _outputPromise = new WeakMap(), _mediaDispatcherStarted = new WeakMap(), _audioBuffer = new WeakMap(), _imagesBuffer = new WeakMap(), _videoBuffer = new WeakMap(), _filesBuffer = new WeakMap(), _SubgraphHandle_instances = new WeakSet(), ensureMediaDispatcher_fn = function() {
  if (__privateGet(this, _mediaDispatcherStarted)) return;
  __privateSet(this, _mediaDispatcherStarted, true);
  const audio = new MultiCursorBuffer();
  const images = new MultiCursorBuffer();
  const video = new MultiCursorBuffer();
  const files = new MultiCursorBuffer();
  __privateSet(this, _audioBuffer, audio);
  __privateSet(this, _imagesBuffer, images);
  __privateSet(this, _videoBuffer, video);
  __privateSet(this, _filesBuffer, files);
  const assembler = new MediaAssembler({
    onAudio: (m) => audio.push(m),
    onImage: (m) => images.push(m),
    onVideo: (m) => video.push(m),
    onFile: (m) => files.push(m)
  });
  __privateMethod(this, _SubgraphHandle_instances, startProjection_fn).call(this, ["messages"], (event) => {
    if (event.method !== "messages") return;
    assembler.consume(event);
  }, () => {
    assembler.close();
    audio.close();
    images.close();
    video.close();
    files.close();
  });
}, startProjection_fn = async function(channels, onEvent, onDone) {
  try {
    const rawHandle = await __privateGet(this, _session).subscribe({
      channels,
      namespaces: [this.namespace]
    });
    for await (const event of rawHandle) onEvent(event);
  } finally {
    onDone();
  }
}, _a6);
var _source, _session2, _parentNamespace, _discovered, _pendingToolStarts, _pendingToolCallHandles, _queue, _waiters, _sourcePump, _closed2, _SubgraphDiscoveryHandle_instances, emit_fn2, processToolEvent_fn, processEvent_fn, start_fn, _a7;
var SubgraphDiscoveryHandle = (_a7 = class {
  constructor(source, session, parentNamespace = []) {
    __privateAdd(this, _SubgraphDiscoveryHandle_instances);
    __privateAdd(this, _source);
    __privateAdd(this, _session2);
    __privateAdd(this, _parentNamespace);
    __privateAdd(this, _discovered, /* @__PURE__ */ new Set());
    __privateAdd(this, _pendingToolStarts, /* @__PURE__ */ new Map());
    __privateAdd(this, _pendingToolCallHandles, /* @__PURE__ */ new Map());
    __privateAdd(this, _queue, []);
    __privateAdd(this, _waiters, []);
    __privateAdd(this, _sourcePump);
    __privateAdd(this, _closed2, false);
    __privateSet(this, _source, source);
    __privateSet(this, _session2, session);
    __privateSet(this, _parentNamespace, parentNamespace);
  }
  async close() {
    __privateSet(this, _closed2, true);
    await __privateGet(this, _source).unsubscribe();
  }
  [Symbol.asyncIterator]() {
    __privateMethod(this, _SubgraphDiscoveryHandle_instances, start_fn).call(this);
    return {
      next: async () => {
        if (__privateGet(this, _queue).length > 0) return {
          done: false,
          value: __privateGet(this, _queue).shift()
        };
        if (__privateGet(this, _closed2)) return {
          done: true,
          value: void 0
        };
        return await new Promise((resolve) => {
          __privateGet(this, _waiters).push(resolve);
        });
      },
      return: async () => {
        await this.close();
        return {
          done: true,
          value: void 0
        };
      }
    };
  }
}, _source = new WeakMap(), _session2 = new WeakMap(), _parentNamespace = new WeakMap(), _discovered = new WeakMap(), _pendingToolStarts = new WeakMap(), _pendingToolCallHandles = new WeakMap(), _queue = new WeakMap(), _waiters = new WeakMap(), _sourcePump = new WeakMap(), _closed2 = new WeakMap(), _SubgraphDiscoveryHandle_instances = new WeakSet(), emit_fn2 = function(handle) {
  const waiter = __privateGet(this, _waiters).shift();
  if (waiter) waiter({
    done: false,
    value: handle
  });
  else __privateGet(this, _queue).push(handle);
}, processToolEvent_fn = function(event) {
  if (event.method !== "tools") return false;
  const tools = event;
  const data = tools.params.data;
  if (data.event !== "tool-started") return true;
  const toolCallId = data.tool_call_id;
  if (!toolCallId) return true;
  const pendingHandle = __privateGet(this, _pendingToolCallHandles).get(toolCallId);
  if (pendingHandle) {
    pendingHandle.toolStartedEvent = tools;
    __privateGet(this, _pendingToolCallHandles).delete(toolCallId);
    return true;
  }
  __privateGet(this, _pendingToolStarts).set(toolCallId, tools);
  return true;
}, processEvent_fn = function(event) {
  if (__privateMethod(this, _SubgraphDiscoveryHandle_instances, processToolEvent_fn).call(this, event)) return void 0;
  if (event.method !== "lifecycle") return void 0;
  const lifecycle = event;
  if (lifecycle.params.data.event !== "started") return void 0;
  const ns = event.params.namespace;
  if (ns.length !== __privateGet(this, _parentNamespace).length + 1) return void 0;
  if (!__privateGet(this, _parentNamespace).every((seg, i) => ns[i] === seg)) return void 0;
  const nsKey = ns.join("/");
  if (__privateGet(this, _discovered).has(nsKey)) return void 0;
  __privateGet(this, _discovered).add(nsKey);
  const lastSegment = ns[ns.length - 1] ?? "";
  const colonIdx = lastSegment.lastIndexOf(":");
  let name;
  let index;
  if (colonIdx >= 0) {
    name = lastSegment.slice(0, colonIdx);
    const suffix = lastSegment.slice(colonIdx + 1);
    index = /^\d+$/.test(suffix) ? Number(suffix) : 0;
  } else {
    name = lastSegment;
    index = 0;
  }
  const data = lifecycle.params.data;
  const cause = data.cause && typeof data.cause === "object" ? data.cause : void 0;
  let toolStartedEvent;
  if ((cause == null ? void 0 : cause.type) === "toolCall") {
    const toolCallId = cause.tool_call_id;
    if (toolCallId) {
      toolStartedEvent = __privateGet(this, _pendingToolStarts).get(toolCallId);
      __privateGet(this, _pendingToolStarts).delete(toolCallId);
    }
  }
  const handle = new SubgraphHandle(name, index, [...ns], __privateGet(this, _session2), {
    cause,
    graphName: data.graph_name,
    toolStartedEvent
  });
  if ((cause == null ? void 0 : cause.type) === "toolCall" && toolStartedEvent == null) {
    const toolCallId = cause.tool_call_id;
    if (toolCallId) __privateGet(this, _pendingToolCallHandles).set(toolCallId, handle);
  }
  return handle;
}, start_fn = function() {
  if (__privateGet(this, _sourcePump)) return;
  __privateSet(this, _sourcePump, (async () => {
    var _a10;
    for await (const event of __privateGet(this, _source)) {
      const handle = __privateMethod(this, _SubgraphDiscoveryHandle_instances, processEvent_fn).call(this, event);
      if (!handle) continue;
      __privateMethod(this, _SubgraphDiscoveryHandle_instances, emit_fn2).call(this, handle);
    }
    __privateGet(this, _pendingToolStarts).clear();
    __privateGet(this, _pendingToolCallHandles).clear();
    __privateSet(this, _closed2, true);
    while (__privateGet(this, _waiters).length > 0) (_a10 = __privateGet(this, _waiters).shift()) == null ? void 0 : _a10({
      done: true,
      value: void 0
    });
  })());
}, _a7);

// node_modules/@langchain/react/node_modules/@langchain/langgraph-sdk/dist/client/stream/handles/subagents.js
var _session3, _messagesIterable2, _toolCallsIterable2, _subgraphsIterable2, _mediaDispatcherStarted2, _audioBuffer2, _imagesBuffer2, _videoBuffer2, _filesBuffer2, _SubagentHandle_instances, ensureMediaDispatcher_fn2, startProjection_fn2, _a8;
var SubagentHandle = (_a8 = class {
  constructor(name, callId, namespace, taskInput, output, session) {
    __privateAdd(this, _SubagentHandle_instances);
    __publicField(this, "name");
    __publicField(this, "callId");
    __publicField(this, "taskInput");
    __publicField(this, "output");
    __publicField(this, "namespace");
    __privateAdd(this, _session3);
    __privateAdd(this, _messagesIterable2);
    __privateAdd(this, _toolCallsIterable2);
    __privateAdd(this, _subgraphsIterable2);
    __privateAdd(this, _mediaDispatcherStarted2, false);
    __privateAdd(this, _audioBuffer2);
    __privateAdd(this, _imagesBuffer2);
    __privateAdd(this, _videoBuffer2);
    __privateAdd(this, _filesBuffer2);
    this.name = name;
    this.callId = callId;
    this.namespace = namespace;
    this.taskInput = taskInput;
    this.output = output;
    __privateSet(this, _session3, session);
  }
  get messages() {
    if (__privateGet(this, _messagesIterable2)) return __privateGet(this, _messagesIterable2);
    const buffer = new MultiCursorBuffer();
    __privateSet(this, _messagesIterable2, buffer);
    const assembler = new StreamingMessageAssembler();
    __privateMethod(this, _SubagentHandle_instances, startProjection_fn2).call(this, ["messages"], (event) => {
      if (event.method !== "messages") return;
      const msg = assembler.consume(event);
      if (msg) buffer.push(msg);
    }, () => buffer.close());
    return buffer;
  }
  get toolCalls() {
    if (__privateGet(this, _toolCallsIterable2)) return __privateGet(this, _toolCallsIterable2);
    const buffer = new MultiCursorBuffer();
    __privateSet(this, _toolCallsIterable2, buffer);
    const assembler = new ToolCallAssembler();
    __privateMethod(this, _SubagentHandle_instances, startProjection_fn2).call(this, ["tools"], (event) => {
      if (event.method !== "tools") return;
      const toolsEvent = event;
      if (shouldIgnoreScopedTaskToolEvent(this.namespace, toolsEvent)) return;
      const tc = assembler.consume(toolsEvent);
      if (tc) buffer.push(toClientAssembledToolCall(tc));
    }, () => buffer.close());
    return buffer;
  }
  get audio() {
    __privateMethod(this, _SubagentHandle_instances, ensureMediaDispatcher_fn2).call(this);
    return __privateGet(this, _audioBuffer2);
  }
  get images() {
    __privateMethod(this, _SubagentHandle_instances, ensureMediaDispatcher_fn2).call(this);
    return __privateGet(this, _imagesBuffer2);
  }
  get video() {
    __privateMethod(this, _SubagentHandle_instances, ensureMediaDispatcher_fn2).call(this);
    return __privateGet(this, _videoBuffer2);
  }
  get files() {
    __privateMethod(this, _SubagentHandle_instances, ensureMediaDispatcher_fn2).call(this);
    return __privateGet(this, _filesBuffer2);
  }
  get subgraphs() {
    if (__privateGet(this, _subgraphsIterable2)) return __privateGet(this, _subgraphsIterable2);
    const buffer = new MultiCursorBuffer();
    __privateSet(this, _subgraphsIterable2, buffer);
    (async () => {
      const discovery = new SubgraphDiscoveryHandle(await __privateGet(this, _session3).subscribe({
        channels: ["lifecycle"],
        namespaces: [this.namespace]
      }), __privateGet(this, _session3), this.namespace);
      for await (const sub of discovery) buffer.push(sub);
      buffer.close();
    })();
    return buffer;
  }
  subscribe(paramsOrChannels, options = {}) {
    if (typeof paramsOrChannels === "object" && !Array.isArray(paramsOrChannels) && "channels" in paramsOrChannels) return __privateGet(this, _session3).subscribe({
      ...paramsOrChannels,
      namespaces: paramsOrChannels.namespaces ?? [this.namespace]
    });
    return __privateGet(this, _session3).subscribe(paramsOrChannels, {
      ...options,
      namespaces: options.namespaces ?? [this.namespace]
    });
  }
}, _session3 = new WeakMap(), _messagesIterable2 = new WeakMap(), _toolCallsIterable2 = new WeakMap(), _subgraphsIterable2 = new WeakMap(), _mediaDispatcherStarted2 = new WeakMap(), _audioBuffer2 = new WeakMap(), _imagesBuffer2 = new WeakMap(), _videoBuffer2 = new WeakMap(), _filesBuffer2 = new WeakMap(), _SubagentHandle_instances = new WeakSet(), ensureMediaDispatcher_fn2 = function() {
  if (__privateGet(this, _mediaDispatcherStarted2)) return;
  __privateSet(this, _mediaDispatcherStarted2, true);
  const audio = new MultiCursorBuffer();
  const images = new MultiCursorBuffer();
  const video = new MultiCursorBuffer();
  const files = new MultiCursorBuffer();
  __privateSet(this, _audioBuffer2, audio);
  __privateSet(this, _imagesBuffer2, images);
  __privateSet(this, _videoBuffer2, video);
  __privateSet(this, _filesBuffer2, files);
  const assembler = new MediaAssembler({
    onAudio: (m) => audio.push(m),
    onImage: (m) => images.push(m),
    onVideo: (m) => video.push(m),
    onFile: (m) => files.push(m)
  });
  __privateMethod(this, _SubagentHandle_instances, startProjection_fn2).call(this, ["messages"], (event) => {
    if (event.method !== "messages") return;
    assembler.consume(event);
  }, () => {
    assembler.close();
    audio.close();
    images.close();
    video.close();
    files.close();
  });
}, startProjection_fn2 = async function(channels, onEvent, onDone) {
  try {
    const rawHandle = await __privateGet(this, _session3).subscribe({
      channels,
      namespaces: [this.namespace]
    });
    for await (const event of rawHandle) onEvent(event);
  } finally {
    onDone();
  }
}, _a8);
var _source2, _session4, _queue2, _waiters2, _pending, _sourcePump2, _closed3, _SubagentDiscoveryHandle_instances, processEvent_fn2, start_fn2, _a9;
var SubagentDiscoveryHandle = (_a9 = class {
  constructor(source, session) {
    __privateAdd(this, _SubagentDiscoveryHandle_instances);
    __privateAdd(this, _source2);
    __privateAdd(this, _session4);
    __privateAdd(this, _queue2, []);
    __privateAdd(this, _waiters2, []);
    __privateAdd(this, _pending, /* @__PURE__ */ new Map());
    __privateAdd(this, _sourcePump2);
    __privateAdd(this, _closed3, false);
    __privateSet(this, _source2, source);
    __privateSet(this, _session4, session);
  }
  async close() {
    __privateSet(this, _closed3, true);
    await __privateGet(this, _source2).unsubscribe();
  }
  [Symbol.asyncIterator]() {
    __privateMethod(this, _SubagentDiscoveryHandle_instances, start_fn2).call(this);
    return {
      next: async () => {
        if (__privateGet(this, _queue2).length > 0) return {
          done: false,
          value: __privateGet(this, _queue2).shift()
        };
        if (__privateGet(this, _closed3)) return {
          done: true,
          value: void 0
        };
        return await new Promise((resolve) => {
          __privateGet(this, _waiters2).push(resolve);
        });
      },
      return: async () => {
        await this.close();
        return {
          done: true,
          value: void 0
        };
      }
    };
  }
}, _source2 = new WeakMap(), _session4 = new WeakMap(), _queue2 = new WeakMap(), _waiters2 = new WeakMap(), _pending = new WeakMap(), _sourcePump2 = new WeakMap(), _closed3 = new WeakMap(), _SubagentDiscoveryHandle_instances = new WeakSet(), processEvent_fn2 = function(event) {
  if (event.method !== "tools") return void 0;
  const tools = event;
  const data = tools.params.data;
  const toolCallId = data.tool_call_id;
  if (data.tool_name === "task" && data.event === "tool-started") {
    const rawInput = data.input;
    const input = typeof rawInput === "string" ? JSON.parse(rawInput) : rawInput ?? {};
    const name = input.subagent_type ?? "unknown";
    const description = input.description ?? "";
    let resolveTaskInput;
    let resolveOutput;
    let rejectOutput;
    const taskInput = new Promise((r) => {
      resolveTaskInput = r;
    });
    const output = new Promise((res, rej) => {
      resolveOutput = res;
      rejectOutput = rej;
    });
    resolveTaskInput(description);
    __privateGet(this, _pending).set(toolCallId, {
      resolveOutput,
      rejectOutput
    });
    return new SubagentHandle(name, toolCallId, [...tools.params.namespace], taskInput, output, __privateGet(this, _session4));
  }
  if (toolCallId) {
    const pending = __privateGet(this, _pending).get(toolCallId);
    if (pending) {
      if (data.event === "tool-finished") {
        pending.resolveOutput(data.output);
        __privateGet(this, _pending).delete(toolCallId);
      } else if (data.event === "tool-error") {
        const message = data.message ?? "unknown error";
        pending.rejectOutput(new Error(message));
        __privateGet(this, _pending).delete(toolCallId);
      }
    }
  }
}, start_fn2 = function() {
  if (__privateGet(this, _sourcePump2)) return;
  __privateSet(this, _sourcePump2, (async () => {
    var _a10;
    for await (const event of __privateGet(this, _source2)) {
      const handle = __privateMethod(this, _SubagentDiscoveryHandle_instances, processEvent_fn2).call(this, event);
      if (!handle) continue;
      const waiter = __privateGet(this, _waiters2).shift();
      if (waiter) waiter({
        done: false,
        value: handle
      });
      else __privateGet(this, _queue2).push(handle);
    }
    __privateSet(this, _closed3, true);
    for (const pending of __privateGet(this, _pending).values()) pending.resolveOutput(void 0);
    __privateGet(this, _pending).clear();
    while (__privateGet(this, _waiters2).length > 0) (_a10 = __privateGet(this, _waiters2).shift()) == null ? void 0 : _a10({
      done: true,
      value: void 0
    });
  })());
}, _a9);

export {
  MultiCursorBuffer,
  toStreamingMessageHandle,
  MessageAssembler,
  StreamingMessageAssembler,
  MediaAssemblyError,
  MediaAssembler,
  toClientAssembledToolCall,
  shouldIgnoreScopedTaskToolEvent,
  parseToolOutput,
  ToolCallAssembler,
  SubagentHandle,
  SubagentDiscoveryHandle,
  SubgraphDiscoveryHandle
};
//# sourceMappingURL=chunk-KGFHB3F6.js.map
