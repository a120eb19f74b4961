/** Experiences and their logos (rules/holons#experiences, rules/media#logo; D51, D51a). */
import { type Actor, isPossibleId, type RequestOf } from '#libs/contract';
import { AppError, badRequest, notFound } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import type { IdempotencyStore } from '#libs/idempotency';
import type { Jobs } from '#libs/jobs';
import { type JsonObject, parseJson } from '#libs/json';
import { type HandlersOf, rawJson } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { isBlank } from '#libs/text';
import { checkInfoFields, readInfoFields } from '../classes/index.ts';
import { holonEvents } from '../events/contract.ts';
import { tellWritten } from '../events/index.ts';
import { getWrittenHolon } from '../holons/index.ts';
import { requireRichText } from '../texts/index.ts';
import { readViewer } from '../visibility/index.ts';
import type { experienceRpcs } from './contract.ts';
import { slugOf, slugWithSuffix } from './rules.ts';
import { type ExperienceClassRow, findExperience, findParent, getLogo, insertExperience, listExperienceClasses } from './statements.ts';
import { setLogo } from './workers.ts';

type ExperienceHandlers = HandlersOf<typeof experienceRpcs>;
interface ExperienceOptions {
  readonly db: Database;
  readonly jobs: Jobs;
  readonly idempotency: IdempotencyStore;
  readonly eventOutbox: EventOutbox;
}
type NewExperience = RequestOf<typeof experienceRpcs.createExperience>;

/** With a random suffix of six characters a second try is rare and a third unheard of. */
const slugTries = 10;

export function createExperienceHandlers({ db, jobs, idempotency, eventOutbox }: ExperienceOptions): ExperienceHandlers {
  return {
    createExperience: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        const { actor } = context;
        const parent = await findEditableParent(tx, request.parent_id, actor);
        const [name, description] = [
          needText('name', request.name.trim()),
          needText('description', requireRichText('description', request.description)),
        ];
        const objectClass = chooseClass(await listExperienceClasses(tx, { classId: parent.class_id }), request.svc_class);
        const { set } = checkInfoFields(
          readInfoFields(parseJson(objectClass.info_field_groups)),
          (request.info_fields ?? {}) as JsonObject,
        );
        const infos = JSON.stringify(set);
        const id = await insertWithFreshSlug(tx, { name, description, classId: objectClass.id, parentId: request.parent_id, infos });
        await jobs.emit(tx, holonEvents.holonsChanged, { ids: [id] });
        await tellWritten(eventOutbox, tx, 'holon', 'created', [id]);
        const written = await getWrittenHolon(tx, { id, ...readViewer(actor) });
        return rawJson(`{"experience":${written.body}}`);
      }),
    checkExperienceLogo: async ({ experience_id: id }, { actor }) => {
      const row = isPossibleId(id) ? await findExperience(db, { id, ...readViewer(actor) }) : undefined;
      if (row === undefined) throw notFound();
      if (!row.can_edit) throw new AppError({ code: 'permission_denied', message: 'You may not edit this experience.' });
      return rawJson(`{"experience":${row.body}}`);
    },
    setExperienceLogo: async (setting) => {
      await setLogo({ jobs, eventOutbox }, setting);
      const row = await getLogo(db, { id: setting.experience_id });
      if (row === undefined) throw notFound();
      return row;
    },
  };
}

/** @throws AppError 404, 403 */
async function findEditableParent(tx: Tx, id: number, actor: Actor | undefined): Promise<{ readonly class_id: number }> {
  const parent = isPossibleId(id) ? await findParent(tx, { id, ...readViewer(actor) }) : undefined;
  if (parent === undefined) throw notFound();
  if (!parent.can_edit) throw new AppError({ code: 'permission_denied', message: 'You may not edit the content of this holon.' });
  return parent;
}

/** @throws AppError 400 */
function chooseClass(allowed: readonly ExperienceClassRow[], wanted: NewExperience['svc_class']): ExperienceClassRow {
  const [first] = allowed;
  if (first === undefined) throw badRequest('The parent allows no experience class as a child.');
  if (wanted === undefined || wanted === null) return first;
  const chosen = allowed.find(({ slug }) => slug === wanted);
  if (chosen === undefined) throw badRequest('svc_class is no experience class that the parent allows as a child.');
  return chosen;
}

function needText(field: string, text: string): string {
  if (isBlank(text)) throw badRequest(`${field} must not be blank.`);
  return text;
}

/** Parallel creations of one name get different slugs: whoever finds its slug taken tries another. */
async function insertWithFreshSlug(tx: Tx, experience: Omit<Parameters<typeof insertExperience>[1], 'slug'>): Promise<number> {
  const base = slugOf(experience.name);
  for (let attempt = 0; attempt < slugTries; attempt++) {
    const slug = attempt === 0 ? base : slugWithSuffix(base);
    const row = await insertExperience(tx, { slug, ...experience });
    if (row !== undefined) return row.id;
  }
  throw new Error(`no free slug for ${base} after ${slugTries} tries`);
}
