/** Starts the servers and services of a platform on this machine, for development and tests. Not part of the image. */
export {
  ffmpegProgram,
  chromiumProgram,
  opensslProgram,
  pgBouncerProgram,
  provideDebianProgram,
  pythonProgram,
} from './debian-program.ts';
export { type Go, provideGo } from './go-toolchain.ts';
export { findFreePort } from './ports.ts';
export { type PostgresServer, startPostgres } from './postgres.ts';
export { type ServerProcess, startServerProcess } from './server-process.ts';
export { listDatabaseUrls, listNatsUrls, settingsOfService } from './service-accounts.ts';
export { type ServiceProcess, startServiceProcess } from './service-process.ts';
export { loadServiceConfig } from './service-settings.ts';
