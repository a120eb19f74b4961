export type Path = readonly (string | number)[];

export interface Problem {
  readonly path: (string | number)[];
  readonly message: string;
}
