import { describe, expect, it } from '@jest/globals';
import type { Entry, Outcome } from './history.ts';
import { formatTable, listOutages, summarize } from './report.ts';

const entry = (kind: string, from: number, to: number, outcome: Outcome = 'done'): Entry => ({
  id: from,
  kind,
  object: 'o',
  input: { do: 'read' },
  outcome,
  from,
  to,
  answer: '',
});

const entries = [
  entry('a', 0, 100),
  entry('a', 1_000, 2_000, 'unknown'),
  entry('b', 1_500, 2_500, 'unknown'),
  entry('b', 2_600, 3_000),
  entry('a', 2_100, 2_400),
  entry('a', 9_000, 9_500, 'unknown'),
  entry('a', 9_100, 9_200),
];

describe('listOutages', () => {
  it('measures an outage from a failed request to the next success of the same operation, and merges overlapping outages', () => {
    expect(listOutages(entries)).toEqual([
      { from: 1_000, to: 3_000 },
      { from: 9_000, to: 9_200 },
    ]);
  });
});

describe('the table of a chaos report', () => {
  it('counts the events of each fault from its start until the recovery', () => {
    const turns = [{ fault: 'kill', target: 'media', from: 900, to: 4_000 }];
    const problems = [
      { what: 'lost' as const, text: '', entries: [entry('a', 1_000, 2_000)] },
      { what: 'lost' as const, text: '', entries: [entry('a', 9_000, 9_001)] },
    ];
    const rows = summarize(entries, turns, problems);
    expect(rows).toEqual([
      { fault: 'kill', times: 1, requests: 4, unanswered: 2, lost: 1, doubled: 0, unavailable: 2 },
    ]);
    expect(formatTable(rows).split('\n').at(-1)).toBe('| kill | 1 | 4 | 2 | 1 | 0 | 2.0 |');
  });
});
