# The deployment that the tests plan; a run changes what it is about.
project_id       = "plinth-test"
deployment       = "test"
release          = "1.2.3"
release_bucket   = "plinth-test-releases"
invokers         = ["domain:example.com"]
parents          = ["folders/111", "organizations/222"]
billing_accounts = ["0123AB-4567CD-89EF01"]
machine_access   = "iap"
