# What this module needs: the terraform that reads it, and its providers. The tests hold it against the schema of 8.0.
terraform {
  required_version = ">= 1.9.0"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 7, < 9"
    }
    time = {
      source  = "hashicorp/time"
      version = ">= 0.9, < 1"
    }
  }
}

data "google_project" "plinth" {
  project_id = var.project_id

  lifecycle {
    # What the functions may do in a parent, they may do in all beneath it. Folders above its own one aren't seen from here.
    postcondition {
      condition     = !contains(var.parents, "folders/${self.folder_id}")
      error_message = "${var.project_id} lies in folders/${self.folder_id}, where bootstraps make their projects: the functions could do with plinth's own project what they do with those. Move it (gcloud beta projects move ${var.project_id} --folder=<another>), or give other parents. docs/operate/deploy.md, section 1."
    }
  }
}
