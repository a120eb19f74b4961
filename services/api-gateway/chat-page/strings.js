/** The page's words in the visitor's language, as the server put them beside it: one file for each language (rules/agents#embedded). */

/** @type {Record<string, string>} */
const strings = JSON.parse(document.querySelector('#strings')?.textContent ?? '{}');
export const language = document.documentElement.lang;

/**
 * @param {string} key
 * @param {Record<string, string | number>} [values] for the places in braces
 */
export function say(key, values = {}) {
  return (strings[key] ?? key).replaceAll(/\{(\w+)\}/g, (_, /** @type {string} */ name) => String(values[name] ?? ''));
}
