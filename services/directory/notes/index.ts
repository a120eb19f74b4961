/** What other features need of notes. */
export { createNote, readNote } from './new-note.ts';
