/** Public parts of `holons`. */
export { type AttachedRow, attach, getHolon, getWrittenHolon } from './statements/holon.ts';
