/** What other features need of holons. */
export { getWrittenHolon } from './statements/update.ts';
export { getHolon } from './statements/read.ts';
