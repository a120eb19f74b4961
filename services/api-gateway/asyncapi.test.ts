import { describe, expect, it } from '@jest/globals';
import { Parser } from '@asyncapi/parser';
import { feedSubjects } from '#libs/infrastructure/contract';
import { releaseVersion } from '#libs/infrastructure/release';
import { compileSchema } from '#libs/infrastructure/schema';
import { feedTypes } from '#services/events';
import { buildAsyncApi } from './asyncapi.ts';

interface Message {
  name: string;
  payload: object;
  examples: { payload: object }[];
}
const document = buildAsyncApi() as {
  asyncapi: string;
  info: { version: string };
  components: { messages: Record<string, Message> };
};
/** Diagnostics up to this severity fail the test: 0 is an error, 1 a warning. */
const worstAllowed = 1;
const messages = Object.values(document.components.messages);

describe('the AsyncAPI document (rules/events#documents; V8)', () => {
  it('passes the official AsyncAPI parser, with the running release', async () => {
    const { document: parsed, diagnostics } = await new Parser().parse(JSON.stringify(document));
    const found = JSON.parse(JSON.stringify(diagnostics)) as { severity: number }[];
    expect(found.filter(({ severity }) => severity <= worstAllowed)).toEqual([]);
    expect(parsed?.version()).toBe('3.0.0');
    expect(parsed?.allMessages().length).toBe(feedTypes.length);
    expect(document.info.version).toBe(releaseVersion);
  });

  it('contains every event type once', () => {
    expect(messages.map(({ name }) => name)).toEqual(feedTypes.map(({ type }) => type));
    expect(new Set(feedTypes.map(({ type }) => type)).size).toBe(feedTypes.length);
  });

  it.each(messages)('contains an example of $name that matches its schema', ({ payload, examples }) => {
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(compileSchema(payload as never)(example.payload)).toBeUndefined();
    expect(compileSchema(payload as never)({ ...examples[0]?.payload, type: 'another.type' })).toBeDefined();
  });

  it('declares a subject for each event type, and only ids, slugs and enumerations as event data', () => {
    for (const { type, subject, data } of feedTypes) {
      expect([type, feedSubjects.includes(subject)]).toEqual([type, true]);
      for (const field of Object.keys((data as { properties?: object }).properties ?? {})) {
        expect([type, field]).toEqual([
          type,
          expect.stringMatching(/^(.*_ids?|into|journey|step|reason|status|change|note_type)$/),
        ]);
      }
    }
  });
});
