/** `spheres list|create|update` over HTTP (W15). */
import { type Command, Option } from 'commander';
import type { ListSpheresReply } from '../clients/typescript/operations.ts';
import type { CliContext } from './context.ts';
import { table } from './output/table.ts';
import { cursorText, parseId, parseLimit } from './parse-options.ts';
import { describeChanges, describeObject, readBody } from './write-options.ts';

type Sphere = ListSpheresReply['body']['items'][number];

const columns = {
  ID: ({ id }: Sphere) => id,
  NAME: ({ name }: Sphere) => name,
  ACTIVE: ({ is_active: isActive }: Sphere) => isActive,
};

export function register(spheres: Command, context: CliContext): void {
  spheres
    .command('list')
    .description('Lists spheres')
    .option('--all', 'also inactive ones')
    .option('--limit <count>', 'spheres per page, at most 200', parseLimit, 50)
    .option('--cursor <cursor>', cursorText)
    .action(async ({ all, ...page }: { all?: true; limit: number; cursor?: string }) => {
      const query = { ...page, ...(all === true && { include_inactive: true }) };
      const { items, next } = (await context.http((api) => api.listSpheres({ query }))).body;
      const more = next === null ? [] : [`More results: --cursor ${next}`];
      context.print(items, table(items, columns, 'No spheres.'), ...more);
    });

  spheres
    .command('create <name>')
    .description('Creates a sphere')
    .action(async (name: string) => {
      const { sphere } = (await context.http((api) => api.createSphere({ body: { name } }))).body;
      context.print(sphere, `Created sphere ${sphere.id}.`);
    });

  spheres
    .command('update')
    .argument('<id>', 'sphere', parseId)
    .description('Renames, retires or reactivates a sphere')
    .option('--name <text>', 'name')
    .addOption(new Option('--active <value>', 'whether it can be chosen').choices(['true', 'false']))
    .action(async (id: number, { name, active }: { name?: string; active?: string }) => {
      const isActive = active === undefined ? undefined : active === 'true';
      const body = await readBody<{ name?: string; is_active?: boolean }>(undefined, { name, is_active: isActive });
      const call = { path: { sphere_id: id }, body };
      const reply = (await context.http((api) => api.updateSphere(call), `sphere ${id}`)).body;
      context.print(reply, describeChanges(`sphere ${id}`, reply.changes), describeObject({ ...reply.sphere }));
    });
}
