/** Types of events as requests name them (V3). */
import type { FeedSubject } from '#libs/contract';
import { feedTypes } from './contract.ts';

/** The types of a list such as `person.*,conversation.created`; undefined when it names one that does not exist. */
export function readTypes(text: string): string[] | undefined {
  const wanted = new Set<string>();
  for (const name of text.split(',').map((part) => part.trim())) {
    const named = name.endsWith('.*')
      ? feedTypes.filter(({ type }) => type.startsWith(name.slice(0, -1)))
      : feedTypes.filter(({ type }) => type === name);
    if (named.length === 0) return undefined;
    for (const { type } of named) wanted.add(type);
  }
  return [...wanted];
}

/** What events of these types can be about. */
export function subjectsOf(types: readonly string[]): FeedSubject[] {
  return [...new Set(feedTypes.filter(({ type }) => types.includes(type)).map(({ subject }) => subject))];
}
