/**
 * Builds nats-server and the object store, of those that the caller does not bring. The bootstrap runs it while npm installs the packages:
 * nothing that it imports may need one. A failure is told by whoever needs the program.
 */
import { provideGoTool } from './go-tool.ts';
import { natsServerTool, versitygwTool } from './go-tools.ts';

const selected = [process.env['NATS_URL'] ? [] : natsServerTool, process.env['S3_ENDPOINT'] ? [] : versitygwTool].flat();
await Promise.allSettled(selected.map((tool) => provideGoTool(tool, (line) => process.stderr.write(`  ${line}\n`))));
