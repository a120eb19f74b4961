/** Finds the person behind an id, key or email, for operators. */
export { findPerson } from './handlers.ts';
