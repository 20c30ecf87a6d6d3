/** Elements and text of XML. */

export function element(
  name: string,
  attributes: Record<string, string | number>,
  children: readonly string[],
): string {
  const texts = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`);
  const open = `<${name}${texts.join("")}`;
  return children.length === 0 ? `${open}/>` : `${open}>${children.join("\n")}</${name}>`;
}

// Characters that XML 1.0 does not allow even if escaped, including lone surrogates.
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/** Escapes text for XML attributes and content. */
export function escapeXml(text: string): string {
  return text.replace(NOT_XML, "\ufffd").replace(/[&<>"'\t\n\r]/g, (char) => ENTITIES[char] ?? char);
}
