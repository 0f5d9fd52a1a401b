# APIs of plinth's own project. Those that bootstraps use are among them: calls are billed to, and counted in, this project.

locals {
  services = toset([
    "artifactregistry",
    "billingbudgets",
    "cloudbilling",
    "cloudbuild",
    "cloudfunctions",
    "cloudquotas",
    "cloudresourcemanager",
    "cloudscheduler",
    "compute",
    "dns",
    "eventarc",
    "firebaserules",
    "firestore",
    "iam",
    "iamcredentials",
    "logging",
    "monitoring",
    "orgpolicy",
    "oslogin",
    "publicca",
    "pubsub",
    "run",
    "secretmanager",
    "serviceusage",
    "storage",
  ])
}

resource "google_project_service" "api" {
  for_each = setunion(local.services, var.traces ? ["cloudtrace", "telemetry"] : [])

  project = var.project_id
  service = "${each.key}.googleapis.com"
  # Others in the project may use it, too.
  disable_on_destroy = false
}

# An API refuses calls for a while after it was enabled. All that is made by one waits for this.
resource "time_sleep" "apis" {
  create_duration = "120s"
  triggers        = { for name, api in google_project_service.api : name => api.service }
}

# Eventarc's own agent is made with the API, and its rights take minutes; a function that hears events is refused until then.
resource "time_sleep" "eventarc" {
  create_duration = "180s"
  triggers        = { api = google_project_service.api["eventarc"].service }
}
