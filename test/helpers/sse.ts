import { EventSourceParserStream } from "eventsource-parser/stream";

export interface SseEvent {
  id: string | undefined;
  event: string | undefined;
  data: unknown;
}

/** Yields the events of a streaming response with parsed data. */
export async function* readEvents(response: Response): AsyncGenerator<SseEvent, void, undefined> {
  if (!response.body) return;
  const events = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { id, event, data } of events as unknown as AsyncIterable<{
    id?: string;
    event?: string;
    data: string;
  }>) {
    yield { id, event, data: JSON.parse(data) };
  }
}

/** All events of a streaming response. */
export async function allEvents(response: Response): Promise<SseEvent[]> {
  const events: SseEvent[] = [];
  for await (const event of readEvents(response)) events.push(event);
  return events;
}
