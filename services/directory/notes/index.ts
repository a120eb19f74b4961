/** Public parts of `notes`. */
export { createNote, readNote } from './new-note.ts';
