/** Inspects a main thread that never yields: the debugger interrupts it between two steps of JavaScript. */
import { type Debugger, Session } from "node:inspector";

/**
 * Timeout after which a pause is requested again, in milliseconds. A pause can get lost in Node's
 * own code, where a loop of promises often is.
 */
const PAUSE_MS = 100;

/**
 * Evaluates an expression on top of the main thread's stack, then resumes the thread. Resolves with
 * the resulting string; undefined if the thread cannot be interrupted in time, as in a synchronous
 * system call.
 */
export async function inspectStalledThread(
  expression: string,
  timeoutMs: number,
): Promise<string | undefined> {
  const session = new Session();
  session.connectToMainThread();
  const timeUp = new AbortController();
  const timer = setTimeout(() => {
    timeUp.abort();
    // Rejects pending posts.
    session.disconnect();
  }, timeoutMs);
  try {
    return await ask(session, expression, timeUp.signal);
  } finally {
    clearTimeout(timer);
    // Also resumes a paused thread.
    session.disconnect();
  }
}

async function ask(session: Session, expression: string, timeUp: AbortSignal): Promise<string | undefined> {
  const urls = new Map<string, string>();
  session.on("Debugger.scriptParsed", ({ params }) => urls.set(params.scriptId, params.url));
  const isNodes = ({ location }: Debugger.CallFrame) =>
    urls.get(location.scriptId)?.startsWith("node:") ?? true;
  begin(session, "Debugger.enable");
  begin(session, "Debugger.setBlackboxPatterns", { patterns: ["^node:"] });
  while (!timeUp.aborted) {
    const frames = await pausedFrames(session);
    const frame = frames?.find((each) => !isNodes(each));
    if (frame) {
      const { callFrameId } = frame;
      const result = await post(session, "Debugger.evaluateOnCallFrame", { callFrameId, expression });
      const value: unknown = (result as Debugger.EvaluateOnCallFrameReturnType).result.value;
      return typeof value === "string" ? value : undefined;
    }
    begin(session, "Debugger.resume");
  }
  return undefined;
}

/** Stack of the paused thread; undefined if it does not pause in time. */
function pausedFrames(session: Session): Promise<Debugger.CallFrame[] | undefined> {
  return new Promise((resolve) => {
    const onPaused = ({ params }: { params: Debugger.PausedEventDataType }) => {
      clearTimeout(timer);
      resolve(params.callFrames);
    };
    const onTimeout = () => {
      session.off("Debugger.paused", onPaused);
      resolve(undefined);
    };
    const timer = setTimeout(onTimeout, PAUSE_MS);
    session.once("Debugger.paused", onPaused);
    begin(session, "Debugger.pause");
  });
}

/** Posts a command and ignores its failure if the session ends first. */
function begin(session: Session, method: string, params?: object): void {
  post(session, method, params).catch(() => undefined);
}

/** Settles when the thread has answered or the session ends. */
function post(session: Session, method: string, params: object = {}): Promise<object | undefined> {
  return new Promise((resolve, reject) => {
    session.post(method, params, (error, result) => (error ? reject(error) : resolve(result)));
  });
}
