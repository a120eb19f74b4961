/** The path of a request as logs have it: the name of a public file, whose knowledge opens it, is left out. */
export function redactPath(path: string): string {
  return path.replace(/^(\/media\/[^/]*\/[^/]*\/).+/s, '$1…');
}
