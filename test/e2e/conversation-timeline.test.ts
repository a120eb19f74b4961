/** The timeline of a conversation over all services (rules/conversations#timeline; W9, W23). */
import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, eventually, startTestPlatform } from './test-platform.ts';
import type { Answer, Demo, TestPlatform } from './test-platform.ts';

const root = '/api/coherence/conversations';

let platform: TestPlatform;
let demo: Demo;
let partial: TestPlatform;
let partialDemo: Demo;
let token: string;
beforeAll(async () => {
  [platform, partial] = await Promise.all([
    startTestPlatform(import.meta.url),
    startTestPlatform(
      `${import.meta.url}?partial`,
      { CONVERSATION_ACCESS: 'members' },
      { services: ['api-gateway', 'directory', 'conversations', 'media'] },
    ),
  ]);
  demo = await applyDemo(platform, 'line');
  partialDemo = await applyDemo(partial, 'part');
  token = await platform.login('ada-line@example.org', 'secret-of-ada-line');
});
afterAll(() => Promise.all([platform.stop(), partial.stop()]));

const compareText = (left: string, right: string): number => left.localeCompare(right);
const timeline = (id: number, own = token, on = platform): Promise<Answer> =>
  on.call('GET', `${root}/${id}/timeline`, { token: own });
const ownerOf = (facts: { kind: string }[], kind: string) => facts.find((item) => item.kind === kind);

async function fresh(on = platform, { journey, ada }: Demo = demo): Promise<any> {
  const json = { journey_slug: journey, start: '2031-05-01T10:00:00Z', participant_ids: [ada] };
  return (await on.call('POST', root, { json })).json;
}

describe('GET /conversations/{id}/timeline (W9)', () => {
  it('lists what happened in all services, oldest first, with actors and links', async () => {
    const made = await fresh();
    const { id } = made;
    const call = (path: string, json: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
      platform.call('POST', `${root}/${id}/${path}`, { token, json, headers });
    await call('update', { step_slug: 'second' });
    await call('enter-coherence', { phase: 'lounge' });
    await call('enter-coherence', { phase: 'circle', conversationStartedAt: '2031-05-01T10:01:00Z' });
    await call('enter-coherence', { captureEndedAt: '2031-05-01T11:01:00Z' });
    const change = { questionId: made.questions[0].id, occurredAt: '2026-01-01T00:00:00Z' };
    await call('question-changes', change, { 'idempotency-key': 'first' });
    await call('notes', { body: 'a secret remark' });
    await call('recorded', {});
    await platform.call('DELETE', `${root}/${id}`, { token });
    await call('restore', {});
    await platform.sql(
      `insert into conversations.webhook_receipts (source, dedupe_key, delivery_id, received_at, person_id, headers, trigger_event, outcome, conversation_id)
       select 'booking', 'line-' || outcome, 'x', now(), '1', '{}', 'BOOKING_CREATED', outcome, $1
       from unnest(array['applied', 'refused_times', 'stale']) as o (outcome)`,
      [id],
    );
    await platform.sql(
      `insert into transcripts.jobs (id, type, payload, state, attempts, error, finished_at)
       values ($1, 'transcripts.transcript-import', jsonb_build_object('conversation_id', $2::integer), 'dead', 3, 'a secret error', now())`,
      [randomUUIDv7(), id],
    );
    await platform.sql(
      `insert into media.blobs (kind, conversation_id, object_key, name, content_type, size_bytes, sha256, source)
       values ('audio', $1, 'k1', 'a.ogg', 'audio/ogg', 5, repeat('a', 64), 'upload'),
         ('recording_full', $1, 'k2', 'v', 'video/mp4', 9, repeat('b', 64), 'import')`,
      [id],
    );
    await platform.sql(
      `insert into transcripts.import_evidence (conversation_id, status, contract_import) values ($1, 'transcript_window_missing', true)`,
      [id],
    );

    const answer = await timeline(id);
    const items = answer.json.items as { at: string; kind: string; actor: unknown; detail: unknown; link: unknown }[];
    expect([answer.status, answer.json.missing]).toEqual([200, []]);
    expect(items.map(({ kind }) => kind).toSorted(compareText)).toEqual(
      [
        'audio.uploaded',
        'booking.applied',
        'booking.refused',
        'conversation.created',
        'conversation.deleted',
        'conversation.restored',
        'conversation.updated',
        'job.failed',
        'note.created',
        'note.created',
        'question.shown',
        'recorded',
        'room.opened',
        'step.entered',
        'step.entered',
        'step.entered',
        'transcript.refused',
        'video.available',
        'window.ended',
        'window.started',
      ].toSorted(compareText),
    );
    const times = items.map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((left, right) => left - right));
    expect(ownerOf(items, 'conversation.updated')).toMatchObject({
      actor: { kind: 'account', name: 'Ada' },
      detail: { fields: ['step_slug'] },
    });
    expect(ownerOf(items, 'question.shown')).toMatchObject({
      at: '2026-01-01T00:00:00Z',
      title: 'Question shown: What matters now?',
      link: { type: 'question', id: change.questionId },
    });
    expect(ownerOf(items, 'booking.refused')).toMatchObject({ detail: { outcome: 'refused_times' } });
    expect(ownerOf(items, 'transcript.refused')).toMatchObject({ detail: { status: 'transcript_window_missing' } });
    expect(items.filter(({ kind }) => kind === 'step.entered').map(({ detail }) => detail)).toEqual([
      { step: 'first' },
      { step: 'second' },
      { step: 'third' },
    ]);
    expect(answer.text).not.toContain('secret');
  });

  it('names the changed field, not the holon, when a link is added or removed (D48)', async () => {
    const { id } = await fresh();
    for (const command of ['connect', 'disconnect'])
      expect((await platform.cli('conversations', command, String(id), 'event-line')).code).toBe(0);
    const { items } = (await timeline(id)).json;
    const updates = items.filter(({ kind }: { kind: string }) => kind === 'conversation.updated');
    const expected = expect.objectContaining({ detail: { fields: ['connected_slugs'] } });
    expect(updates).toEqual([expected, expected]);
  });

  it('lists the summary and the publication with the times of their provenance', async () => {
    const { id } = await fresh();
    const envelope = (value: unknown, at: string) => ({ value, provenance: { source: 'job', at } });
    const publishing = {
      fields: { summary: envelope('S', '2026-02-01T00:00:00Z') },
      records: { videohost: envelope({ url: 'u' }, '2026-02-02T00:00:00Z') },
    };
    await platform.call('PATCH', `${root}/${id}`, { json: { infos: { publishing } } });
    const { items } = (await timeline(id)).json;
    expect(items.slice(0, 2)).toMatchObject([
      { at: '2026-02-01T00:00:00Z', kind: 'summary.written' },
      { at: '2026-02-02T00:00:00Z', kind: 'published' },
    ]);
  });

  it('shows the text of a question that was archived later', async () => {
    const { id, questions } = await fresh();
    const json = { questionId: questions[1].id, occurredAt: '2026-01-01T00:00:00Z' };
    await platform.call('POST', `${root}/${id}/question-changes`, {
      token,
      json,
      headers: { 'idempotency-key': 'old' },
    });
    const editor = await platform.login('root-line@example.org', 'secret-of-root-line');
    const path = `/api/v1/journeys/${demo.journey}/questions/${json.questionId}/update`;
    const archived = await platform.call('POST', path, { token: editor, json: { is_archived: true } });
    expect(archived.status).toBe(200);
    await eventually(async () => {
      const read = await platform.call('GET', `${root}/${id}`, { token });
      expect(read.json.questions).not.toContainEqual(expect.objectContaining({ id: json.questionId }));
    });
    expect(ownerOf((await timeline(id)).json.items, 'question.shown')).toMatchObject({
      title: `Question shown: ${questions[1].text}`,
    });
  });

  it('lists services that do not answer in `missing`', async () => {
    const { id } = await fresh(partial, partialDemo);
    const own = await partial.login('ada-part@example.org', 'secret-of-ada-part');
    const { status, json } = await timeline(id, own, partial);
    expect([status, json.missing]).toEqual([200, ['agents', 'transcripts']]);
    expect(json.items.map(({ kind }: { kind: string }) => kind)).toEqual(['conversation.created', 'step.entered']);
  });

  it('is for callers who can read the conversation (D69)', async () => {
    const { id } = await fresh(partial, partialDemo);
    const ben = await partial.login('ben-part@example.org', 'secret-of-ben-part');
    for (const target of [id, 2_000_000_000, 0])
      expect([target, (await timeline(target, ben, partial)).json]).toEqual([target, { detail: 'Not Found' }]);
    const open = await platform.login('ben-line@example.org', 'secret-of-ben-line');
    const made = await fresh();
    expect((await timeline(made.id, open)).status).toBe(200);
    expect((await timeline(made.id, platform.sharedToken)).json.error).toBe('per_user_token_required');
    await platform.call('DELETE', `${root}/${made.id}`, { token });
    expect((await timeline(made.id)).status).toBe(404);
  });
});
