import { END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { z } from "zod";

/** What a caller sends. */
const Payment = z.object({ payee: z.string(), amount: z.number().positive() });

/** What a caller sees: the server returns only the keys of the output schema. */
const Output = Payment.extend({ status: z.string() });

/** What the nodes share. `fraudScore` and `approved` are private: they are stored, but never leave the server. */
const State = Output.extend({ fraudScore: z.number(), approved: z.boolean() });
type State = z.infer<typeof State>;

const FRAUD_LIMIT = 0.9;

/** The question to the person; clients find it in the thread's `interrupts`. */
interface Question {
  question: string;
  payee: string;
  amount: number;
}

/** Rates the payment. A real graph would call a fraud service. */
function assess({ amount }: State): Partial<State> {
  return { fraudScore: amount >= 10_000 ? 0.95 : 0.1, status: "waiting for approval" };
}

/** Stops and asks. The run ends here; a run with `command.resume` runs this node again with the answer. */
function approve({ payee, amount }: State): Partial<State> {
  const answer = interrupt<Question, unknown>({ question: `Pay ${amount} to ${payee}?`, payee, amount });
  return { approved: answer === true };
}

/** Pays in a separate node: code before an `interrupt()` runs again on resume, and a payment must run only once. */
function pay({ payee, amount }: State): Partial<State> {
  return { status: `paid ${amount} to ${payee}` };
}

function refuse({ fraudScore }: State): Partial<State> {
  return { status: fraudScore > FRAUD_LIMIT ? "refused by the bank" : "refused by you" };
}

export const graph = new StateGraph({ state: State, input: Payment, output: Output })
  .addNode("assess", assess)
  .addNode("approve", approve)
  .addNode("pay", pay)
  .addNode("refuse", refuse)
  .addEdge(START, "assess")
  .addConditionalEdges("assess", ({ fraudScore }) => (fraudScore > FRAUD_LIMIT ? "refuse" : "approve"), [
    "approve",
    "refuse",
  ])
  .addConditionalEdges("approve", ({ approved }) => (approved ? "pay" : "refuse"), ["pay", "refuse"])
  .addEdge("pay", END)
  .addEdge("refuse", END)
  .compile();
