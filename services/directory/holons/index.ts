/** Exports of `holons` for other features. */
export { type AttachedRow, attach, getHolon, getWrittenHolon } from './statements/holon.ts';
