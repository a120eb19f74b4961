/** True for what can be an email address; surrounding space does not count. Whether somebody reads it only a message can tell. */
export function isEmail(text: string): boolean {
  return text.length <= 320 && /^[^\s@]+@[^\s@]+$/.test(text.trim());
}
