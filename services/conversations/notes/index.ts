export { listNotes } from './statements.ts';
