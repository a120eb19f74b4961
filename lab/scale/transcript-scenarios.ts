/** Requests to the transcript search: rare and frequent words, phrases, prefixes, filters, late pages. */
import type { Pool } from 'pg';
import { pick, type Request } from '../bench/load.ts';
import { vocabulary, wordOf } from './transcript-sql.ts';

export interface TranscriptScenario {
  readonly name: string;
  readonly request: (index: number) => Request;
}

interface TranscriptTargets {
  readonly people: readonly number[];
  readonly journeys: readonly string[];
  readonly holons: readonly string[];
}

type Query = Readonly<Record<string, string | number>>;

/** Reads the objects that filters use. */
export async function readTranscriptTargets(pool: Pool, most: number): Promise<TranscriptTargets> {
  const list = async <Value>(sql: string): Promise<Value[]> =>
    (await pool.query<{ value: Value }>(`${sql} limit ${most}`)).rows.map((row) => row.value);
  const conversations = `(select c.* from conversations.conversations c join transcripts.search_segments s on s.conversation_id = c.id and s.segment_index = 0)`;
  return {
    people: await list(
      `select p.id as value from (select distinct unnest(participant_ids) as id from ${conversations} c) p order by hashint4(p.id)`,
    ),
    journeys: await list(
      `select slug as value from directory.journeys where id in (select journey_id from ${conversations} c) order by hashint4(id)`,
    ),
    holons: await list(
      `select slug as value from directory.holons where id in (select event_id from ${conversations} c) order by hashint4(id)`,
    ),
  };
}

const toRequest = (token: string, query: Query): Request => ({
  method: 'GET',
  path: `/api/coherence/transcripts/search?${new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])).toString()}`,
  headers: { authorization: `Bearer ${token}` },
});

/** Returns the request of the page that follows `pages` pages later, or of the last page. */
async function followPages(baseUrl: string, token: string, query: Query, pages: number): Promise<Request> {
  let request = toRequest(token, query);
  for (let page = 0; page < pages; page++) {
    const answer = await fetch(baseUrl + request.path, { headers: request.headers ?? {} });
    const { next } = (await answer.json()) as { next: string | null };
    if (next === null) return request;
    request = toRequest(token, { ...query, cursor: next });
  }
  return request;
}

/** @param tokens of an account that can read everything, and of one that took part in some conversations */
export async function transcriptScenarios(
  baseUrl: string,
  tokens: { readonly all: string; readonly own: string },
  { people, journeys, holons }: TranscriptTargets,
): Promise<TranscriptScenario[]> {
  const scenario = (name: string, query: (index: number) => Query, token = tokens.all): TranscriptScenario => ({
    name,
    request: (index) => toRequest(token, query(index)),
  });
  const rare = (index: number): string => wordOf(vocabulary - 1 - ((index * 7919) % 20_000));
  const middling = (index: number): string => wordOf(4_000 + ((index * 7919) % 2_000));
  const frequent = (index: number): string => wordOf(8 + (index % 8));
  const most = wordOf(1);
  const day = (index: number): string => new Date(Date.UTC(2024, index % 12, 1)).toISOString();
  const deep = async (name: string, query: Query, pages: number): Promise<TranscriptScenario> => {
    const request = await followPages(baseUrl, tokens.all, query, pages);
    return { name, request: () => request };
  };
  return [
    scenario('a rare word', (index) => ({ q: rare(index) })),
    scenario('a middling word', (index) => ({ q: middling(index) })),
    scenario('a frequent word', (index) => ({ q: frequent(index) })),
    scenario('the most frequent word', () => ({ q: most })),
    scenario('a word that nobody said', (index) => ({ q: `q${rare(index)}` })),
    scenario('a frequent and a rare word', (index) => ({ q: `${frequent(index)} ${rare(index)}` })),
    scenario('two frequent words', (index) => ({ q: `${frequent(index)} ${frequent(index + 3)}` })),
    scenario('two middling words', (index) => ({ q: `${middling(index)} ${middling(index + 1)}` })),
    scenario('a frequent phrase', (index) => ({ q: `"${most} ${frequent(index)}"` })),
    scenario('a phrase of three', (index) => ({ q: `"${most} ${wordOf(2)} ${frequent(index)}"` })),
    scenario('a phrase with a rare word', (index) => ({ q: `"${most} ${rare(index)}"` })),
    scenario('a frequent word without another', (index) => ({ q: `${frequent(index)} -${most}` })),
    scenario('a prefix of 20 rare words', (index) => ({ q: `${rare(index).slice(0, 6)}*` })),
    scenario('a prefix of 400 rare words', (index) => ({ q: `${rare(index).slice(0, 4)}*` })),
    scenario('a prefix of 8,000 words', (index) => ({ q: `${rare(index).slice(0, 2)}*` })),
    scenario('a frequent word of a person', (index) => ({ q: frequent(index), person_id: pick(people, index) })),
    scenario('a rare word of a person', (index) => ({ q: rare(index), person_id: pick(people, index) })),
    scenario('a middling word of a journey', (index) => ({ q: middling(index), journey: pick(journeys, index) })),
    scenario('a frequent word of a journey', (index) => ({ q: frequent(index), journey: pick(journeys, index) })),
    scenario('a frequent word below a holon', (index) => ({ q: frequent(index), holon_slug: pick(holons, index) })),
    scenario('a frequent word of a month', (index) => ({ q: frequent(index), from: day(index), to: day(index + 1) })),
    scenario('a middling word of a month', (index) => ({ q: middling(index), from: day(index), to: day(index + 1) })),
    scenario('own conversations, a frequent word', (index) => ({ q: frequent(index) }), tokens.own),
    scenario('own conversations, a middling word', (index) => ({ q: middling(index) }), tokens.own),
    scenario('own conversations, a rare word', (index) => ({ q: rare(index) }), tokens.own),
    await deep('the most frequent word, page 51', { q: most }, 50),
    await deep('a frequent word, 100 a page, page 31', { q: frequent(0), limit: 100 }, 30),
  ];
}
