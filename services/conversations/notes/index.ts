/** Notes that other features write. */
export { addNote } from './statements.ts';
