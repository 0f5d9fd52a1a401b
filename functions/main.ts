/** The entry point when the functions are deployed from their sources. It registers all of them, and Google asks for one. */
import { deployables } from './index.js';
import { serve } from './serve.js';

serve(Object.values(deployables));
