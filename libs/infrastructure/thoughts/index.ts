/** Removes thoughts from replies of language models (D84). */
export { dropThoughts, readThoughts, ThoughtFilter } from './filter.ts';
