/** Exports of `notes` for other features. */
export { createNote, readNote } from './new-note.ts';
