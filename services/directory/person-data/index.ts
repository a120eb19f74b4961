/** Who is meant by an id, a key or an email, for operators. */
export { findPerson } from './handlers.ts';
