import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newContext } from '#libs/infrastructure/nats';
import { contextFor, superuser, waitFor } from '#libs/product/testing';
import { transcripts } from '#services/transcripts';
import { parse } from 'yaml';
import { createRandom, makeStatement } from '../../../tools/demo/sentences.ts';
import { startTranscriptFixture, type TranscriptFixture } from './fixture.ts';

interface Topic {
  readonly said: string[];
  readonly asked: [string, number[]][];
}

const root = join(import.meta.dirname, '..', '..', '..');
const page = join(root, 'docs', 'search-quality.md');
const topics = parse(readFileSync(join(root, 'test', 'fixtures', 'spoken-questions.yaml'), 'utf8')) as Record<
  string,
  Topic[]
>;
/** The number of demo sentences before and after each utterance. */
const around = 12;
const first = 10;

let fixture: TranscriptFixture;
beforeAll(async () => {
  fixture = await startTranscriptFixture(import.meta.url);
});
afterAll(() => fixture.stop());

/** Creates one conversation per topic, with demo sentences between the utterances. */
async function fill(): Promise<void> {
  const { installLegacy } = transcripts.rpcs;
  const items = [];
  for (const [place, { said }] of Object.values(topics).flat().entries()) {
    const { id } = await fixture.meet({ isRecorded: false, window: {} });
    const random = createRandom(place);
    const texts = said.flatMap((text) => [...Array.from({ length: around }, () => makeStatement(random)), text]);
    const rows = texts.map((text, index) => ({
      start_ms: index * 5_000,
      end_ms: index * 5_000 + 4_000,
      person_id: null,
      speaker: 'Gwen',
      text,
    }));
    items.push({ conversation_id: id, rows });
  }
  await fixture.bus.call(installLegacy, { items, dry_run: false }, contextFor(installLegacy));
  await waitFor(
    async () => {
      const [row] = await fixture.env.sql<{ left: number }>(
        `select (select count(*) from transcripts.transcript_rows)::integer - (select count(*) from transcripts.search_segments)::integer as left`,
      );
      return row?.left === 0;
    },
    { what: 'the index' },
  );
}

async function ask(q: string): Promise<string[]> {
  const { items } = await fixture.bus.call(
    transcripts.rpcs.search,
    { q, limit: first },
    { ...newContext(), actor: superuser },
  );
  return items.map(({ segment }) => segment.text);
}

describe('transcripts.transcripts.search (T2, T3, T6)', () => {
  it('returns the expected results of labelled queries, as described in docs/search-quality.md', async () => {
    await fill();
    const lines: string[] = [];
    const sums = { questions: 0, precision: 0, recall: 0 };
    for (const [language, own] of Object.entries(topics)) {
      let [questions, precision, recall] = [0, 0, 0];
      for (const { said, asked } of own) {
        for (const [q, places] of asked) {
          const wanted = new Set(places.map((place) => said[place]));
          const found = await ask(q);
          const hits = found.filter((text) => wanted.has(text)).length;
          questions += 1;
          precision += found.length === 0 ? 0 : hits / found.length;
          recall += hits / wanted.size;
        }
      }
      lines.push(
        `| ${language} | ${questions} | ${(precision / questions).toFixed(3)} | ${(recall / questions).toFixed(3)} |`,
      );
      sums.questions += questions;
      sums.precision += precision;
      sums.recall += recall;
    }
    const { questions, precision, recall } = sums;
    expect(questions).toBeGreaterThanOrEqual(200);
    lines.push(`| all | ${questions} | ${(precision / questions).toFixed(3)} | ${(recall / questions).toFixed(3)} |`);
    const table = ['| language | questions | precision at 10 | recall at 10 |', '|---|---|---|---|', ...lines].join(
      '\n',
    );
    const text = readFileSync(page, 'utf8');
    const written = text.replace(/\| language [\s\S]*?\n(?!\|)/, `${table}\n`);
    if (process.env['WRITE_SEARCH_QUALITY'] === 'true') writeFileSync(page, written);
    expect(written).toBe(text);
    expect(precision / questions).toBeGreaterThan(0.85);
    expect(recall / questions).toBeGreaterThan(0.95);
  });
});
