/** Parses XML with the strict parser of jsdom, which rejects malformed documents. */
import { createRequire } from "node:module";

export interface XmlElement {
  tagName: string;
  textContent: string;
  children: Iterable<XmlElement>;
  getAttribute(name: string): string | null;
  querySelector(name: string): XmlElement | null;
}

interface Jsdom {
  JSDOM: new (html: string) => {
    window: {
      DOMParser: new () => { parseFromString(text: string, type: string): { documentElement: XmlElement } };
    };
  };
}

/** Returns the root element of a document. */
export function parseXml(text: string): XmlElement {
  // jsdom ships no types.
  const { JSDOM } = createRequire(import.meta.url)("jsdom") as Jsdom;
  const { DOMParser } = new JSDOM("").window;
  const { documentElement } = new DOMParser().parseFromString(text, "text/xml");
  if (documentElement.tagName === "parsererror") throw new Error(documentElement.textContent);
  return documentElement;
}
