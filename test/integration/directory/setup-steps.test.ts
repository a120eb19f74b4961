/** Set-up of steps and questions of journeys over the open API (rules/journeys#set-up; W5, W12, W13, W16). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Actor, RequestOf } from '#libs/infrastructure/contract';
import { entityTag } from '#libs/infrastructure/etag';
import { directory } from '#services/directory';
import { type DirectoryFixture, startDirectoryFixture } from './fixture.ts';
import { codes, editor, member, others } from './setup-fixture.ts';

const { rpcs } = directory;

let fixture: DirectoryFixture;
beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  await fixture.apply({ accounts: [{ email: 'ada@example.org' }] });
});
afterAll(() => fixture.stop());

const historyOf = async (id: string) => (await fixture.call(rpcs.listHistory, { kind: 'journeys', id })).items;
const auditsOf = (action: string) => fixture.env.sql('select id from directory.audit_log where action = $1', [action]);

let count = 0;
let slug = '';
beforeEach(() => {
  slug = `item-${++count}`;
});

describe('steps (W5, W16)', () => {
  beforeEach(() =>
    fixture.call(rpcs.createJourney, { slug, name: 'J', steps: [{ slug: 'a' }, { slug: 'b' }, { slug: 'c' }] }, editor),
  );
  const create = (fields: Partial<RequestOf<typeof rpcs.createStep>> = {}) =>
    fixture.call(rpcs.createStep, { journey_slug: slug, slug: 'd', title: 'D', ...fields }, editor);
  const update = (step: string, fields: Partial<RequestOf<typeof rpcs.updateStep>>) =>
    fixture.call(rpcs.updateStep, { journey_slug: slug, step_slug: step, ...fields }, editor);
  const steps = async () => {
    const { steps: all } = await fixture.call(rpcs.getJourney, { slug });
    expect(all.map(({ order }) => order)).toEqual(all.map((_, index) => index));
    return all.map((step) => step.slug).join('');
  };

  it('adds a step at its position, by default and beyond the end as the last one', async () => {
    expect((await create()).step).toMatchObject({
      id: expect.any(Number),
      slug: 'd',
      title: 'D',
      position: 3,
      order: 3,
    });
    await create({ slug: 'e', position: 1 });
    await create({ slug: 'f', position: 0 });
    await create({ slug: 'g', position: 99 });
    expect(await steps()).toBe('faebcdg');
    const [entry] = await historyOf(slug);
    expect(entry?.changes).toMatchObject({
      'steps.g.title': { old: null, new: 'D' },
      'steps.g.position': { old: null, new: 6 },
    });
  });

  it('changes and moves a step, and reports the requested fields only', async () => {
    const { step, changes } = await update('a', {
      title: 'New',
      goal: 'G',
      position: 2,
      pipeline_job: 'recording_import',
    });
    expect(changes).toEqual({
      title: { old: 'a', new: 'New' },
      goal: { old: '', new: 'G' },
      position: { old: 0, new: 2 },
      pipeline_job: { old: null, new: 'recording_import' },
    });
    expect(step).toMatchObject({ position: 2, pipeline_job: 'recording_import' });
    expect(await steps()).toBe('bca');
    expect((await update('b', { is_archived: true, success_criteria: 'S', starter_message: 'M' })).step).toMatchObject({
      is_archived: true,
      success_criteria: 'S',
      starter_message: 'M',
      position: 0,
    });
    expect((await update('a', { pipeline_job: null, title: 'New' })).changes).toEqual({
      pipeline_job: { old: 'recording_import', new: null },
    });
    const { items } = await fixture.call(rpcs.listConfigAudit, { journey_slug: slug, step_slug: 'a' });
    expect(items.map(({ source, paths }) => [source, paths])).toEqual([
      ['api', ['pipeline_job']],
      ['api', ['pipeline_job']],
    ]);
  });

  it('leaves the configuration of a step unchanged and writes its own changes to the history', async () => {
    await fixture.call(
      rpcs.patchStepConfig,
      { journey_slug: slug, step_slug: 'a', write: { config: { colour: 'red', api_key: 'hidden' } } },
      member,
    );
    await update('a', { title: 'T' });
    const [, patch] = await historyOf(slug);
    expect(patch?.changes).toEqual({
      'steps.a.config': { old: {}, new: { colour: 'red', api_key: { changed: true } } },
    });
    const { config } = await fixture.call(rpcs.readStepConfig, { journey_slug: slug, step_slug: 'a' });
    expect(config).toMatchObject({ colour: 'red' });
  });

  it('rejects used slugs, invalid values and unknown jobs', async () => {
    const refuse = (fields: Partial<RequestOf<typeof rpcs.createStep>>) =>
      fixture.refusal(rpcs.createStep, { journey_slug: slug, slug: 'x', title: 'X', ...fields }, editor);
    expect(await refuse({ slug: 'a' })).toMatchObject({ code: 'conflict', reason: 'slug_taken' });
    expect(await refuse({ title: ' ' })).toMatchObject({ code: codes.invalid, message: 'title must not be blank.' });
    expect(await refuse({ slug: 'not a slug' })).toMatchObject({ code: codes.invalid });
    expect(await refuse({ pipeline_job: 'nope' })).toMatchObject({ code: codes.invalid });
    expect(await refuse({ journey_slug: 'absent' })).toMatchObject({ code: codes.absent });
    const made = await Promise.allSettled([create(), create()]);
    expect(made.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('rejects other callers, and updates with another entity tag', async () => {
    for (const actor of others) {
      const request = { journey_slug: slug, step_slug: 'a' };
      expect(await fixture.refusal(rpcs.updateStep, { ...request, title: 'x' }, actor)).toMatchObject({
        code: codes.denied,
      });
      expect(await fixture.refusal(rpcs.deleteStep, request, actor)).toMatchObject({ code: codes.denied });
      expect(
        await fixture.refusal(rpcs.createStep, { journey_slug: slug, slug: 'x', title: 'x' }, actor),
      ).toMatchObject({ code: codes.denied });
      expect(await fixture.refusal(rpcs.updateStep, { ...request, step_slug: 'absent' }, actor)).toMatchObject({
        code: codes.absent,
      });
    }
    const tag = '"another"';
    await update('a', { title: 'two', if_match: '*' });
    expect(
      await fixture.refusal(
        rpcs.updateStep,
        { journey_slug: slug, step_slug: 'a', title: 'three', if_match: tag },
        editor,
      ),
    ).toMatchObject({ code: 'precondition_failed' });
  });
});

describe('questions (W5, W16)', () => {
  beforeEach(() =>
    fixture.call(rpcs.createJourney, { slug, name: 'J', questions: [{ text: 'A?' }, { text: 'B?' }] }, editor),
  );
  const list = async (request: { limit?: number; cursor?: string } = {}) =>
    fixture.call(rpcs.listQuestions, { journey_slug: slug, ...request }, editor);
  const texts = async () => (await list()).items.map(({ text }) => text).join('');
  const update = async (position: number, fields: Partial<RequestOf<typeof rpcs.updateQuestion>>) =>
    fixture.call(
      rpcs.updateQuestion,
      { journey_slug: slug, question_id: (await list()).items[position]?.id ?? 0, ...fields },
      editor,
    );

  it('adds a question at its position, by default as the last one', async () => {
    const { question } = await fixture.call(rpcs.createQuestion, { journey_slug: slug, text: 'C?' }, editor);
    expect(question).toEqual({ id: expect.any(Number), text: 'C?', position: 2, is_archived: false });
    await fixture.call(rpcs.createQuestion, { journey_slug: slug, text: 'D?', position: 0 }, editor);
    expect(await texts()).toBe('D?A?B?C?');
    const [entry] = await historyOf(slug);
    expect(Object.keys(entry?.changes ?? {})).toEqual(['questions']);
    expect((await auditsOf('question.create')).length).toBeGreaterThan(0);
  });

  it('changes text, position and archiving under the same id', async () => {
    const [first] = (await list()).items;
    const { question, changes } = await update(0, { text: 'Z?', position: 1, is_archived: true });
    expect(question).toEqual({ id: first?.id, text: 'Z?', position: 1, is_archived: true });
    expect(changes).toEqual({
      text: { old: 'A?', new: 'Z?' },
      position: { old: 0, new: 1 },
      is_archived: { old: false, new: true },
    });
    expect(await texts()).toBe('B?Z?');
    const before = await historyOf(slug);
    expect((await update(1, { text: 'Z?' })).changes).toEqual({});
    expect(await historyOf(slug)).toEqual(before);
  });

  it('pages with a cursor and rejects one that is not from a page', async () => {
    const first = await list({ limit: 1 });
    const second = await list({ limit: 1, cursor: first.next ?? '' });
    expect([first.items[0]?.text, second.items[0]?.text, second.next]).toEqual(['A?', 'B?', null]);
    expect(await fixture.refusal(rpcs.listQuestions, { journey_slug: slug, cursor: 'x' }, editor)).toMatchObject({
      code: codes.invalid,
    });
  });

  it('rejects blank texts, questions of other journeys, other callers and other entity tags', async () => {
    const [first] = (await list()).items;
    const request = { journey_slug: slug, question_id: first?.id ?? 0 };
    const refuse = (fields: object, actor: Actor = editor) =>
      fixture.refusal(rpcs.updateQuestion, { ...request, ...fields }, actor);
    expect(await refuse({ text: ' \n' })).toMatchObject({ code: codes.invalid, message: 'text must not be blank.' });
    expect(await refuse({ question_id: 2_000_000_000_000 })).toMatchObject({ code: codes.absent });
    await fixture.call(rpcs.createJourney, { slug: `${slug}-other`, name: 'O' }, editor);
    expect(await refuse({ journey_slug: `${slug}-other`, text: 'x' })).toMatchObject({ code: codes.absent });
    const tag = entityTag(JSON.stringify(first));
    await update(0, { text: 'One?', if_match: tag });
    expect(await refuse({ text: 'Two?', if_match: tag })).toMatchObject({ code: 'precondition_failed' });
    for (const actor of others) {
      expect(await refuse({ text: 'x' }, actor)).toMatchObject({ code: codes.denied });
      expect(await fixture.refusal(rpcs.createQuestion, { journey_slug: slug, text: 'x' }, actor)).toMatchObject({
        code: codes.denied,
      });
    }
  });

  it('numbers the questions of concurrent creations from 0 without gaps', async () => {
    await Promise.all(
      ['1?', '2?', '3?'].map((text) =>
        fixture.call(rpcs.createQuestion, { journey_slug: slug, text, position: 1 }, editor),
      ),
    );
    const rows = await fixture.env.sql<{ position: number }>(
      `select q.position from directory.journey_questions q join directory.journeys j on j.id = q.journey_id where j.slug = $1 order by 1`,
      [slug],
    );
    expect(rows.map(({ position }) => position)).toEqual([0, 1, 2, 3, 4]);
  });
});
