/**
 * The pages are in English. Dates and numbers use the browser's variant of English, or British English for other
 * languages.
 */
export const language = /^en\b/.test(navigator.language) ? navigator.language : 'en-GB';

const figures = new Intl.NumberFormat(language);

/** @param {number} count */
export function toFigure(count) {
  return figures.format(count);
}
