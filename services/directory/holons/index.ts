/** Exports of `holons` for other features. */
export { slugOf, slugWithSuffix } from './slugs.ts';
export { type AttachedRow, attach, getTag, getWrittenHolon } from './statements/holon.ts';
export { insertHolon } from './statements/positions.ts';
