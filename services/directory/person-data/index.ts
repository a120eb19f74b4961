/** Finds the person of an id, key or email, for operators. */
export { findPerson } from './handlers.ts';
