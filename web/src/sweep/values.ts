/** Splits a text at commas, except at commas within brackets or strings. */
export function splitValues(text: string): string[] {
  const values: string[] = [];
  let [depth, quoted, part] = [0, false, ""];
  for (const char of text) {
    if (char === '"') quoted = !quoted;
    if (!quoted && "[{".includes(char)) depth += 1;
    if (!quoted && "]}".includes(char)) depth -= 1;
    if (char === "," && depth === 0 && !quoted) {
      values.push(part.trim());
      part = "";
    } else part += char;
  }
  values.push(part.trim());
  return values.filter((value) => value !== "");
}
