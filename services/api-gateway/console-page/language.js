/** The pages are in English, and so are the dates and figures in them: in the English of the browser where it has one. */
export const language = /^en\b/.test(navigator.language) ? navigator.language : 'en-GB';

const figures = new Intl.NumberFormat(language);

/** @param {number} count */
export function toFigure(count) {
  return figures.format(count);
}
