/** `spheres list|create|update` over HTTP (W15). */
import { type Command, Option } from 'commander';
import type { ListSpheresReply } from '../clients/typescript/operations.ts';
import { withPages } from './common-options.ts';
import type { CliContext } from './context.ts';
import { table } from './output/table.ts';
import { describeNext, readPages } from './pages.ts';
import { parseId } from './parse-options.ts';
import { describeChanges, describeObject, readBody } from './write-options.ts';

type Sphere = ListSpheresReply['body']['items'][number];

const columns = {
  ID: ({ id }: Sphere) => id,
  NAME: ({ name }: Sphere) => name,
  ACTIVE: ({ is_active: isActive }: Sphere) => isActive,
};

export function register(spheres: Command, context: CliContext): void {
  withPages(spheres.command('list'), 'spheres', { preset: 50 })
    .description('Lists spheres')
    .option('--all', 'also inactive ones')
    .action(async ({ all, ...pages }: { all?: true; limit: number; cursor?: string }) => {
      const filter = all === true ? { include_inactive: true } : {};
      const page = await readPages(
        pages,
        async (query) => (await context.http((api) => api.listSpheres({ query: { ...filter, ...query } }))).body,
      );
      context.print(page.items, table(page.items, columns, 'No spheres.'), ...describeNext(page));
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
