/** THE flag table. */
export interface BootstrapOptions {
  readonly projectName: string;
}
