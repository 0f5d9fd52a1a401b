/** Where in a VM's network the way out begins. */
export const outboundPort = 1080;
