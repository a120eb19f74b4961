/** Set-up of classes and journeys over the open API (rules/journeys#set-up; W5, W12 to W14, W16). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Actor, RequestOf } from '#libs/infrastructure/contract';
import { directory } from '#services/directory';
import { type DirectoryFixture, startDirectoryFixture } from './fixture.ts';
import { codes, editor, superuser, others } from './setup-fixture.ts';

const { rpcs } = directory;

let fixture: DirectoryFixture;
beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  await fixture.apply({ accounts: [{ email: 'ada@example.org' }] });
});
afterAll(() => fixture.stop());

const historyOf = async (kind: 'classes' | 'journeys', id: string) =>
  (await fixture.call(rpcs.listHistory, { kind, id })).items;
const auditsOf = (action: string) => fixture.env.sql('select id from directory.audit_log where action = $1', [action]);

let count = 0;
let slug = '';
beforeEach(() => {
  slug = `item-${++count}`;
});

describe('classes (W5)', () => {
  const create = (fields: Partial<RequestOf<typeof rpcs.createClass>> = {}, actor: Actor = editor) =>
    fixture.call(rpcs.createClass, { slug, ...fields }, actor);
  const update = (fields: Partial<RequestOf<typeof rpcs.updateClass>>, actor: Actor = editor) =>
    fixture.call(rpcs.updateClass, { object_kind: 'holon', slug, ...fields }, actor);
  const refusal = (fields: Partial<RequestOf<typeof rpcs.updateClass>>, actor: Actor = editor) =>
    fixture.refusal(rpcs.updateClass, { object_kind: 'holon', slug, ...fields }, actor);

  it('creates a class with the defaults of the workspace file and returns it like getClass', async () => {
    const { class: created } = await create({ label: 'Group' });
    expect(created).toMatchObject({
      slug,
      object_kind: 'holon',
      label: 'Group',
      plural_label: 'Group',
      is_active: true,
      parent: null,
      allowed_children: [],
      own_journeys: [],
    });
    expect(await fixture.call(rpcs.getClass, { object_kind: 'holon', slug })).toEqual(created);
    const [entry] = await historyOf('classes', `holon/${slug}`);
    expect(entry).toMatchObject({
      via: 'api',
      actor: { kind: 'account' },
      changes: { label: { old: null, new: 'Group' } },
    });
  });

  it('changes every field and reports the requested ones as changes', async () => {
    await create();
    await create({ slug: `${slug}-parent`, private: true });
    await fixture.call(rpcs.createJourney, { slug: `${slug}-journey`, name: 'J' }, editor);
    const fields = {
      parent: `${slug}-parent`,
      label: 'L',
      plural_label: 'Ls',
      description: 'D',
      sort_order: 3,
      is_system: true,
      icon_url: '/icon.svg',
      conversation_event: true,
      private: true,
      name_read_only: true,
      allowed_children: [slug],
      journeys: [`${slug}-journey`],
      config: { info_field_groups: [{ key: 'g', fields: [{ key: 'f', type: 'text' }] }], colour: 'red' },
    };
    const { class: changed, changes } = await update(fields);
    expect(changes['journeys']).toEqual({ old: [], new: [`${slug}-journey`] });
    expect(Object.keys(changes).toSorted()).toEqual(Object.keys(fields).toSorted());
    const { journeys, config, ...rest } = fields;
    expect(changed).toMatchObject({ ...rest, own_journeys: journeys, own_config: config });
    expect((await update({ config: { colour: null }, parent: null })).class).toMatchObject({
      parent: null,
      own_config: { info_field_groups: config.info_field_groups },
    });
    expect((await update({ label: 'L' })).changes).toEqual({});
    expect((await auditsOf('class.update')).length).toBeGreaterThan(0);
  });

  it('retires a class, which readers do not find any more and editors can change', async () => {
    await create();
    expect((await update({ is_active: false })).class.is_active).toBe(false);
    expect(await fixture.refusal(rpcs.getClass, { object_kind: 'holon', slug }, editor)).toMatchObject({
      code: codes.absent,
    });
    expect(await refusal({ label: 'x' }, others[0])).toMatchObject({ code: codes.absent });
    const history = { kind: 'classes' as const, id: `holon/${slug}` };
    expect(await fixture.refusal(rpcs.listHistory, history, others[0])).toMatchObject({ code: codes.absent });
    expect((await update({ is_active: true })).changes).toEqual({ is_active: { old: false, new: true } });
  });

  it('names the field of an invalid value and changes nothing', async () => {
    await create();
    for (const [fields, message] of [
      [{ parent: 'absent' }, 'parent there is no class "absent".'],
      [{ parent: slug }, /parent .*ancestor/],
      [{ label: ' ' }, 'label must not be blank.'],
      [{ icon_url: 'javascript:alert(1)' }, /icon_url/],
      [{ allowed_children: ['absent'] }, /allowed_children\.0/],
      [{ journeys: ['absent'] }, /journeys\.0/],
      [
        { config: { info_field_groups: [{ key: 'g', fields: [{ key: 'f', type: 'nope' }] }] } },
        /config.info_field_groups.0.fields.0/,
      ],
      [{ config: { big: 'x'.repeat(1_048_577) } }, /config is longer/],
    ] as const) {
      const error = await refusal(fields as never);
      expect(error).toMatchObject({ code: codes.invalid, message: expect.stringMatching(message) });
    }
    expect(await historyOf('classes', `holon/${slug}`)).toHaveLength(1);
    expect(await fixture.refusal(rpcs.createClass, { slug: 'a b' }, editor)).toMatchObject({ code: codes.invalid });
  });

  it('accepts a used slug from one of several concurrent creations only (W13)', async () => {
    const made = await Promise.allSettled([create(), create({ object_kind: 'relationship' }), create()]);
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of made)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict', reason: 'slug_taken' });
  });

  it('rejects other callers than superusers and workspace editors', async () => {
    await create();
    for (const actor of others) {
      expect(await fixture.refusal(rpcs.createClass, { slug }, actor)).toMatchObject({ code: codes.denied });
      expect(await refusal({ label: 'x' }, actor)).toMatchObject({ code: codes.denied });
      expect(await fixture.refusal(rpcs.updateClass, { object_kind: 'holon', slug: 'absent' }, actor)).toMatchObject({
        code: codes.absent,
      });
      expect(await fixture.refusal(rpcs.deleteClass, { object_kind: 'holon', slug }, actor)).toMatchObject({
        code: codes.denied,
      });
    }
    await update({ label: 'x' }, superuser);
  });

  it('changes nothing when If-Match has another entity tag (W12)', async () => {
    await create();
    const tag = '"another"';
    await update({ label: 'one', if_match: '*' });
    expect(await refusal({ label: 'two', if_match: tag })).toMatchObject({ code: 'precondition_failed' });
    expect(
      await fixture.refusal(rpcs.deleteClass, { object_kind: 'holon', slug, if_match: tag }, editor),
    ).toMatchObject({ code: 'precondition_failed' });
  });

  it('deletes an unused class and counts what depends on a used one (W14)', async () => {
    await create({ allowed_children: [slug], journeys: [] });
    await create({ slug: `${slug}-child`, parent: slug, allowed_children: [slug] });
    await fixture.call(rpcs.createJourney, { slug: `${slug}-j`, name: 'J', applies_to: slug }, editor);
    await fixture.apply({ holons: [{ slug: `${slug}-holon`, name: 'H', class: slug }] });
    const request = { object_kind: 'holon', slug };
    expect(await fixture.refusal(rpcs.deleteClass, request, editor)).toMatchObject({
      code: 'conflict',
      reason: 'in_use',
      details: { counts: { holons: 1, subclasses: 1, allowed_children: 1, applies_to: 1 } },
    });
    await fixture.call(rpcs.deleteClass, { object_kind: 'holon', slug: `${slug}-child` }, editor);
    await fixture.call(rpcs.updateJourney, { journey_slug: `${slug}-j`, applies_to: null }, editor);
    await fixture.env.sql('delete from directory.holons where slug = $1', [`${slug}-holon`]);
    await fixture.call(rpcs.deleteClass, request, editor);
    expect(await fixture.refusal(rpcs.deleteClass, request, editor)).toMatchObject({ code: codes.absent });
    const [entry] = await fixture.env.sql<{ action: string }>(
      `select action from directory.history where object_key = $1 order by id desc limit 1`,
      [slug],
    );
    expect(entry).toEqual({ action: 'delete' });
    expect((await auditsOf('class.delete')).length).toBeGreaterThan(0);
  });
});

describe('journeys (W5, W16)', () => {
  const create = (fields: Partial<RequestOf<typeof rpcs.createJourney>> = {}, actor: Actor = editor) =>
    fixture.call(rpcs.createJourney, { slug, name: 'Journey', ...fields }, actor);
  const update = (fields: Partial<RequestOf<typeof rpcs.updateJourney>>, actor: Actor = editor) =>
    fixture.call(rpcs.updateJourney, { journey_slug: slug, ...fields }, actor);

  it('creates a journey with steps and questions in their order', async () => {
    const { journey } = await create({
      texts: { welcome: 'Hi' },
      is_conversation: true,
      steps: [{ slug: 'b', title: 'B', pipeline_job: 'recording_import' }, { slug: 'a' }],
      questions: [{ text: 'Two?' }, { text: 'Old?', is_archived: true }, 'One?'],
    });
    expect(journey).toMatchObject({ id: expect.any(Number), slug, name: 'Journey', texts: { welcome: 'Hi' } });
    expect(journey.steps.map((step) => [step.slug, step.title, step.order])).toEqual([
      ['b', 'B', 0],
      ['a', 'a', 1],
    ]);
    expect(await fixture.call(rpcs.getJourney, { slug })).toEqual(journey);
    const { items } = await fixture.call(rpcs.listQuestions, { journey_slug: slug }, editor);
    expect(items.map(({ text, position, is_archived }) => [text, position, is_archived])).toEqual([
      ['Two?', 0, false],
      ['Old?', 1, true],
      ['One?', 2, false],
    ]);
    const [cached] = (await fixture.call(rpcs.getJourneys, { slugs: [slug] })).items;
    expect(cached?.questions.map(({ text, order }) => [text, order])).toEqual([
      ['Two?', 0],
      ['One?', 1],
    ]);
    expect(cached?.archived_questions).toEqual([{ id: items[1]?.id, text: 'Old?' }]);
  });

  it('changes fields and replaces texts whole (W16)', async () => {
    await create({ texts: { welcome: 'Hi', enter: 'In', nested: { a: 1, b: 2 } } });
    const { journey, changes } = await update({ name: 'New', texts: { welcome: 'Hello', nested: { c: 3 } } });
    expect(journey.texts).toEqual({ welcome: 'Hello', nested: { c: 3 } });
    expect(changes).toEqual({
      name: { old: 'Journey', new: 'New' },
      texts: {
        old: { welcome: 'Hi', enter: 'In', nested: { a: 1, b: 2 } },
        new: { welcome: 'Hello', nested: { c: 3 } },
      },
    });
    expect((await historyOf('journeys', slug))[0]?.changes).toEqual(changes);
    expect((await update({ name: 'New' })).changes).toEqual({});
  });

  it('rejects invalid values, unknown classes and unknown jobs with a message that names the field', async () => {
    await create();
    for (const [fields, message] of [
      [{ name: '  ' }, 'name must not be blank.'],
      [{ applies_to: 'absent' }, 'applies_to there is no class "absent".'],
      [{ texts: { goodbyeURL: 'javascript:x' } }, /texts.goodbyeURL/],
    ] as const)
      expect(await fixture.refusal(rpcs.updateJourney, { journey_slug: slug, ...fields }, editor)).toMatchObject({
        code: codes.invalid,
        message: expect.stringMatching(message),
      });
    const refuse = (fields: Partial<RequestOf<typeof rpcs.createJourney>>) =>
      fixture.refusal(rpcs.createJourney, { slug: `${slug}-x`, name: 'X', ...fields }, editor);
    expect(await refuse({ steps: [{ slug: 's', pipeline_job: 'nope' }] })).toMatchObject({ code: codes.invalid });
    expect(await refuse({ steps: [{ slug: 's' }, { slug: 's' }] })).toMatchObject({ code: codes.invalid });
    expect(await refuse({ questions: [{ text: ' ' }] })).toMatchObject({ code: codes.invalid });
    expect(await fixture.refusal(rpcs.getJourney, { slug: `${slug}-x` })).toMatchObject({ code: codes.absent });
  });

  it('accepts a used slug from one of several concurrent creations only (W13)', async () => {
    const made = await Promise.allSettled([create(), create(), create()]);
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await fixture.refusal(rpcs.createJourney, { slug, name: 'x' }, editor)).toMatchObject({
      code: 'conflict',
      reason: 'slug_taken',
    });
  });

  it('rejects other callers than superusers and workspace editors', async () => {
    await create();
    for (const actor of others) {
      expect(await fixture.refusal(rpcs.createJourney, { slug, name: 'x' }, actor)).toMatchObject({
        code: codes.denied,
      });
      expect(await fixture.refusal(rpcs.updateJourney, { journey_slug: slug, name: 'x' }, actor)).toMatchObject({
        code: codes.denied,
      });
      expect(await fixture.refusal(rpcs.deleteJourney, { journey_slug: slug }, actor)).toMatchObject({
        code: codes.denied,
      });
      expect(await fixture.refusal(rpcs.deleteJourney, { journey_slug: 'absent' }, actor)).toMatchObject({
        code: codes.absent,
      });
      expect(await fixture.refusal(rpcs.listQuestions, { journey_slug: slug }, actor)).toMatchObject({
        code: codes.denied,
      });
    }
  });

  it('exports archived questions to a file that recreates them (W16)', async () => {
    await create({ questions: [{ text: 'Old?', is_archived: true }, { text: 'New?' }] });
    const { items } = await fixture.call(rpcs.exportWorkspace, { list: 'journeys', after: 0 });
    const item = items.find((journey) => (journey as { slug: string }).slug === slug) as Record<string, unknown>;
    expect(item['questions']).toEqual([{ text: 'Old?', is_archived: true }, { text: 'New?' }]);
    const applied = await fixture.apply({ journeys: [item, { ...item, slug: `${slug}-copy` }] });
    expect([applied.created, applied.updated, applied.unchanged]).toEqual([1, 0, 1]);
    const copy = await fixture.call(rpcs.listQuestions, { journey_slug: `${slug}-copy` }, editor);
    expect(copy.items.map((question) => question.is_archived)).toEqual([true, false]);
  });
});
