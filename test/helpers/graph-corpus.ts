/** Graphs as teams build them, for the layout of the Studio. */
import type { Diagram, DiagramEdge } from "../../src/view/diagram.js";

/**
 * One edge a line: `from -> to, to` is a plain edge, `from ~> to:label` a conditional one. `start` and `end` are the
 * markers of the graph; `team:start` is the marker of a subgraph.
 */
export function graphOf(text: string): Diagram {
  const ids = new Set<string>();
  const edges: DiagramEdge[] = [];
  const idOf = (name: string) =>
    name
      .trim()
      .replace(/(^|\/)(start|end)$/, "$1__$2__")
      .replaceAll("/", ":");
  for (const line of text.trim().split("\n")) {
    const [, from = "", arrow, to = ""] = /^\s*(\S+) (->|~>) (.*)$/.exec(line) ?? [];
    ids.add(idOf(from));
    for (const part of to.split(",")) {
      const [name = "", label] = part.split(":");
      const target = idOf(name);
      ids.add(target);
      edges.push({
        ...{ source: idOf(from), target, conditional: arrow === "~>" },
        labels: label === undefined ? [] : [label.trim()],
      });
    }
  }
  return { nodes: [...ids].map((id) => ({ id })), edges };
}

interface Sample {
  title: string;
  diagram: Diagram;
  /** Most crossings of its layout. */
  most: number;
}

const sample = (title: string, most: number, text: string): Sample => ({
  title,
  most,
  diagram: graphOf(text),
});

export const CORPUS: readonly Sample[] = [
  sample(
    "agent with tools",
    0,
    `start -> agent
     agent ~> tools:call, end:done
     tools -> agent`,
  ),
  sample(
    "support desk with a research team",
    0,
    `start -> triage
     triage ~> explode, propose_refund:refund, research/expand:research, agent:chat
     explode -> end
     propose_refund -> approve_refund
     approve_refund -> end
     research/expand -> research/tickets, research/docs, research/web
     research/tickets -> research/rank
     research/docs -> research/rank
     research/web -> research/rank
     research/rank -> summarise
     summarise -> end
     agent ~> tools:call, end:done
     tools -> agent`,
  ),
  sample(
    "supervisor with workers",
    0,
    `start -> supervisor
     supervisor ~> researcher, coder, reviewer, writer, end:FINISH
     researcher -> supervisor
     coder -> supervisor
     reviewer -> supervisor
     writer -> supervisor`,
  ),
  sample(
    "plan and execute",
    0,
    `start -> planner
     planner -> execute_step
     execute_step -> replan
     replan ~> execute_step:more, end:answered`,
  ),
  sample(
    "corrective retrieval",
    0,
    `start -> retrieve
     retrieve -> grade_documents
     grade_documents ~> transform_query:irrelevant, generate:relevant
     transform_query -> web_search
     web_search -> generate
     generate -> end`,
  ),
  sample(
    "self-grading retrieval",
    0,
    `start -> retrieve
     retrieve -> grade_documents
     grade_documents ~> transform_query:none relevant, generate:some relevant
     transform_query -> retrieve
     generate ~> generate:not supported, transform_query:not useful, end:useful`,
  ),
  sample(
    "map and reduce",
    0,
    `start -> split
     split ~> summarise_part
     summarise_part -> collect
     collect ~> collapse:too long, final_summary:fits
     collapse ~> collapse:too long, final_summary:fits
     final_summary -> end`,
  ),
  sample(
    "reflection loop",
    0,
    `start -> draft
     draft -> reflect
     reflect ~> search:needs sources, end:good enough
     search -> revise
     revise -> reflect`,
  ),
  sample(
    "email assistant with approval",
    0,
    `start -> classify
     classify ~> respond/draft:respond, notify, end:ignore
     respond/draft -> respond/review
     respond/review ~> respond/draft:edit, respond/send:accept
     respond/send -> archive
     notify -> archive
     archive -> end`,
  ),
  sample(
    "database questions",
    0,
    `start -> list_tables
     list_tables -> get_schema
     get_schema -> write_query
     write_query ~> check_query, end:answered
     check_query -> run_query
     run_query -> write_query`,
  ),
  sample(
    "two teams under a manager",
    0,
    `start -> manager
     manager ~> research_team/lead:research, writing_team/lead:write, end:done
     research_team/lead ~> research_team/search, research_team/scrape, research_team/report
     research_team/search -> research_team/lead
     research_team/scrape -> research_team/lead
     research_team/report -> manager
     writing_team/lead ~> writing_team/outline, writing_team/draft, writing_team/publish
     writing_team/outline -> writing_team/lead
     writing_team/draft -> writing_team/lead
     writing_team/publish -> manager`,
  ),
  sample(
    "handoffs between three agents",
    0,
    `start -> front_desk
     front_desk ~> billing, technician, end
     billing ~> front_desk, technician, end
     technician ~> front_desk, billing, end`,
  ),
  sample(
    "deep research",
    0,
    `start -> clarify
     clarify ~> write_brief:clear, end:ask the user
     write_brief -> supervisor/plan
     supervisor/plan -> supervisor/delegate
     supervisor/delegate -> supervisor/researcher/start
     supervisor/researcher/start -> supervisor/researcher/model
     supervisor/researcher/model ~> supervisor/researcher/tools, supervisor/researcher/compress
     supervisor/researcher/tools -> supervisor/researcher/model
     supervisor/researcher/compress -> supervisor/researcher/end
     supervisor/researcher/end -> supervisor/collect
     supervisor/collect ~> supervisor/plan:gaps, final_report:complete
     final_report -> end`,
  ),
  sample(
    "code assistant with tests",
    0,
    `start -> understand
     understand -> plan
     plan -> write_code
     write_code -> run_tests
     run_tests ~> fix:failed, review:passed
     fix -> run_tests
     review ~> write_code:changes requested, open_pull_request:approved
     open_pull_request -> end`,
  ),
  sample(
    "invoice pipeline",
    0,
    `start -> receive
     receive -> extract_text, read_metadata, detect_language
     extract_text -> extract_fields
     detect_language -> extract_fields
     read_metadata -> match_vendor
     extract_fields -> validate
     match_vendor -> validate
     validate ~> ask_person:unsure, book:valid, reject:invalid
     ask_person -> validate
     book -> notify
     reject -> notify
     notify -> end`,
  ),
  sample(
    "parallel checks of a loan",
    1,
    `start -> application
     application -> identity, credit, income, fraud, sanctions
     identity -> score
     credit -> score
     income -> score
     fraud -> decision_gate
     sanctions -> decision_gate
     score -> decision_gate
     decision_gate ~> approve, decline, manual_review:unclear
     manual_review ~> approve, decline
     approve -> letter
     decline -> letter
     letter -> end`,
  ),
  sample(
    "voice booking",
    0,
    `start -> listen
     listen -> intent
     intent ~> book/start:book, cancel/start:cancel, small_talk
     book/start -> book/find_slots
     book/find_slots ~> book/offer, book/no_slots
     book/offer ~> book/confirm, book/find_slots:other time
     book/confirm -> book/end
     book/no_slots -> book/end
     book/end -> speak
     cancel/start -> cancel/look_up, cancel/check_fee
     cancel/look_up -> cancel/confirm
     cancel/check_fee -> cancel/confirm
     cancel/confirm -> cancel/end
     cancel/end -> speak
     small_talk -> speak
     speak ~> listen:more, end:hang up`,
  ),
  sample(
    "long chain",
    0,
    `start -> load
     load -> clean
     clean -> normalise
     normalise -> enrich
     enrich -> deduplicate
     deduplicate -> classify
     classify -> embed
     embed -> index
     index -> report
     report -> end`,
  ),
  sample(
    "game master with side quests",
    1,
    `start -> scene
     scene ~> fight, talk, explore, rest, end:quit
     fight ~> loot:won, scene:fled, end:died
     talk ~> quest, scene
     explore ~> trap, loot, scene
     trap ~> fight, scene
     loot -> scene
     quest -> scene
     rest -> scene`,
  ),
  sample(
    "operations desk with 35 nodes",
    0,
    `start -> intake
     intake -> route
     route ~> crm/start:customer, billing/start:invoice, incident/detect:outage, faq, human:escalate
     crm/start -> crm/find, crm/score
     crm/find ~> crm/merge:duplicates, crm/update
     crm/merge -> crm/update
     crm/score -> crm/update
     crm/update -> crm/end
     crm/end -> compose
     billing/start -> billing/load
     billing/load -> billing/lines, billing/taxes, billing/discounts
     billing/lines -> billing/total
     billing/taxes -> billing/total
     billing/discounts -> billing/total
     billing/total ~> billing/refund, billing/end:correct
     billing/refund -> billing/approve
     billing/approve ~> billing/refund:changed, billing/end:signed
     billing/end -> compose
     incident/detect -> incident/logs, incident/metrics, incident/deploys
     incident/logs -> incident/hypothesis
     incident/metrics -> incident/hypothesis
     incident/deploys -> incident/hypothesis
     incident/hypothesis ~> incident/detect:unclear, incident/mitigate:found
     incident/mitigate -> postmortem
     postmortem -> compose
     faq ~> compose, human:unknown
     human -> compose
     compose -> check_tone
     check_tone ~> compose:rewrite, send:fine
     send -> end`,
  ),
];
