/** Answers of language models without what the models thought (D84). */
export { dropThoughts, readThoughts, ThoughtFilter } from './filter.ts';
