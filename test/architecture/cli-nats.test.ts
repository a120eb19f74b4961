/** The operations of the admin CLI over NATS are those of docs/rules/cli.md, with a reason each. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { events } from '#services/events';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';

const page = join(import.meta.dirname, '..', '..', 'docs/rules/cli.md');
const contracts = [agents, conversations, directory, events, media, transcripts];

describe('the admin CLI over NATS (rules/cli#over-nats)', () => {
  it('has exactly the operations that the documentation lists', () => {
    const declared = contracts.flatMap(({ service, rpcs }) =>
      Object.values(rpcs)
        .filter(({ callers }) => 'cli' in callers)
        .map(({ subject }) => subject.replace(`admin.${service}.audit.`, 'admin.<service>.audit.'))
        .map((subject) => subject.replace(`admin.${service}.service.`, 'admin.<service>.service.')),
    );
    const text = readFileSync(page, 'utf8');
    const section = text.split('\n## ').find((part) => part.startsWith('Over NATS')) ?? '';
    const documented = section.matchAll(/`([a-z<>-]+(?:\.[a-z<>-]+){2,})`/g).map(([, subject]) => subject);
    expect(new Set(documented)).toEqual(new Set(declared));
  });
});
