/** Why a backup cannot be made, used or trusted, for whoever runs it. */
export class BackupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackupError';
  }
}
