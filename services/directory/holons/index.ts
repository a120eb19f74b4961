/** What other features need of holons. */
export { getWrittenHolon } from './statements/update.ts';
