/**
 * The page's texts in the visitor's language, embedded by the server; one file for each language
 * (rules/agents#embedded).
 */

/** @type {Record<string, string>} */
const strings = JSON.parse(document.querySelector('#strings')?.textContent ?? '{}');
export const language = document.documentElement.lang;

/**
 * @param {string} key
 * @param {Record<string, string | number>} [values] for the placeholders in braces
 */
export function translate(key, values = {}) {
  return (strings[key] ?? key).replaceAll(/\{(\w+)\}/g, (_, /** @type {string} */ name) => String(values[name] ?? ''));
}
