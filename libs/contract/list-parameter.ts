/** Query parameters that are lists of words (rules/http#lists-in-queries; D103). */
import { Type } from './type.ts';

interface ListOptions {
  readonly description: string;
  /** The words that there are; the operation itself refuses others. Absent = any word. */
  readonly words?: readonly string[];
  /** What an absent parameter means. */
  readonly usual?: readonly string[];
  /** Characters of the whole list. */
  readonly maxLength?: number;
}

/** The operation gets one text, the words joined by commas, however the request spells the list. */
export const listParameter = ({ description, words, usual, maxLength }: ListOptions) =>
  Type.String({
    listOf: words ?? [],
    ...(usual === undefined ? {} : { default: usual.join(',') }),
    ...(maxLength === undefined ? {} : { maxLength }),
    description,
  });
