export type ManagementOptions = {
  /** Where control is, such as `https://carillon.example.com`. */
  readonly url: string;
  /** A service token, or the owner's. A function is called for each request. */
  readonly token: string | (() => string | Promise<string>);
  readonly fetch?: (request: Request) => Promise<Response>;
};
