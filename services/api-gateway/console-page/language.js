/** The pages are in English, and so are their dates and numbers: in the browser's variant of English if it has one. */
export const language = /^en\b/.test(navigator.language) ? navigator.language : 'en-GB';

const figures = new Intl.NumberFormat(language);

/** @param {number} count */
export function toFigure(count) {
  return figures.format(count);
}
