/** True for what can be one email address, without a name beside it; surrounding space does not count. Whether it is read only a message can tell. */
export function isEmail(text: string): boolean {
  return text.length <= 320 && /^[^\s@<>‹›«»,;()]+@[^\s@<>‹›«»,;()]+$/.test(text.trim());
}
