/** What other features need of notes. */
export { createNote } from './new-note.ts';
export { readNote } from './rules.ts';
